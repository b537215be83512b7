// The page: its state, its drawing and its actions. chrome.js has the controls.

const el = (id) => document.getElementById(id);

const sameWeight = (a, b) => a.every((weight, side) => weight === b[side]);

class Page {
	constructor(profile) {
		this.p = profile;
		this.q = profile; // as edited: the labels are the same, the tree is not
		this.edits = [];
		this.map = null;
		this.all = this.w = weigh(profile, profile.self);
		this.defaults = defaultsOf(profile);
		this.state = { ...this.defaults };
		this.paths = new PathReader(profile);
		this.trees = {};
		this.factors = {};
		this.matches = null;
		this.hover = this.focus = null;
		this.zoomed = { down: null, up: null };
		const number = (key, otherwise) => Math.min(64, Math.max(6, parseFloat(profile.options.get(key)) || otherwise));
		const font = number('fontsize', 12);
		this.picture = new Picture(Math.max(font + 4, number('height', 20)), font);
		this.dark = window.matchMedia('(prefers-color-scheme: dark)');
		this.narrow = window.matchMedia('(max-width: 760px)'); // as in page.css
		this.format = {
			weight: profile.unit === 'ns' ? sayTime : sayCount, count: sayCount, percent: sayPercent, points: sayPoints,
			colour: (label) => this.labelFill(label), say: (text) => this.say(text),
		};
		this.format.unit = profile.unit;
		this.format.exact = profile.unit === 'ns' && profile.kind.includes(SLEEPING);
		this.format.samples = this.samples();
		this.setPalette();
		const range = (r) => this.selectRange(r), { times } = profile;
		this.heat = times ? new HeatMap(times, this.format, range, profile.options.get('slice')) : null;
		if (this.heat)
			this.heat.zoomed = (time) => this.set({ time }, false);
		this.lanes = times && times.who ? new Lanes(profile, this.heat, this.format, () => this.palette, {
			mode: (lanes) => this.set({ lanes, lane: '' }), lane: (lane) => this.set({ lane }), range,
		}) : null;
		const events = { pick: (label) => this.sandwich(label), search: (label) => this.searchName(label) };
		this.table = new Table(profile, events, this.format);
	}

	// ---- state

	// Applies changes to the state. push: the browser's "back" undoes them.
	set(changes, push = true) {
		Object.assign(this.state, changes);
		const fragment = fragmentOf(this.state, this.defaults);
		if (fragment !== this.fragment) {
			const url = `#${fragment}`;
			try {
				window.history[push ? 'pushState' : 'replaceState'](null, '', url);
			} catch (e) {
				window.location.replace(url);
			}
			this.fragment = fragment;
		}
		this.apply();
	}

	readFragment() {
		const fragment = window.location.hash.slice(1);
		if (fragment === this.fragment)
			return;
		this.fragment = fragment;
		this.state = stateOf(fragment, this.defaults);
		this.apply();
	}

	// Makes everything match the state; cheap if nothing changed.
	apply() {
		const s = this.state;
		if (s.theme !== this.theme)
			this.setPalette();
		if (s.edit !== this.edit)
			this.applyEdits();
		if (this.heat && s.time !== this.time)
			this.heat.restoreWindow(s.time);
		this.time = s.time;
		if (s.range !== this.range || s.lane !== this.lane)
			this.applyRange();
		if (this.lanes)
			this.lanes.set(s.lanes, s.lane);
		if (s.query !== this.query)
			this.applySearch();
		this.applyView();
		this.applySeen();
		this.applyHighlight();
		document.body.classList.toggle('notable', !this.tableShown());
		this.showButtons();
		this.layout();
		this.table.paintChanges();
	}

	// On a narrow page, where the table would be below the picture, it is hidden until requested.
	tableShown() {
		return this.state.table === '' ? !this.narrow.matches : this.state.table === '1';
	}

	setPalette() {
		this.theme = this.state.theme;
		const dark = !this.printing && (this.theme ? this.theme === 'dark' : this.dark.matches);
		document.documentElement.dataset.theme = dark ? 'dark' : 'light';
		this.palette = new Palette(this.p, dark);
		this.format.dark = dark;
		this.format.accent = this.palette.accent;
		this.format.dim = dark ? '#98a1ab' : '#6a717a';
		if (this.table && this.table.w) {
			this.table.paint();
			this.showLegend();
		}
		if (this.heat)
			this.heat.draw(); // and the lanes
	}

	applyEdits() {
		this.edit = this.state.edit;
		this.edits = readEdits(this.edit, this.paths);
		const { p, map } = editProfile(this.p, this.edits);
		this.q = p;
		this.map = map;
		this.range = undefined;
	}

	applyRange() {
		this.range = this.state.range;
		const m = /^(\d+)-(\d+)$/.exec(this.range);
		const range = m && this.heat ? [Number(m[1]), Number(m[2])] : null;
		if (this.heat)
			this.heat.setRange(range);
		const { lanes, lane } = this.state, kept = this.heat ? this.heat.range : null;
		const { p, q, map } = this, only = this.lanes ? this.lanes.chosenOrigins(lanes, lane) : null;
		this.only = only;
		this.lane = lane;
		let self = kept || only ? [selfsOfRange(p, kept, only), ...p.self.slice(1)] : p.self;
		if (map)
			self = self.map((own) => moveWeights(own, map, q.nodes));
		this.w = kept || only || map ? weigh(q, self) : this.all;
		this.trees = {};
		this.factors = {};
		document.body.classList.toggle('ranged', kept !== null);
		this.found = null;
	}

	// Weighs the visible part, for the table, the legend and the share of the search: the zoomed box with
	// its callees, or all stacks of a zoomed box of the reversed tree. A sandwich leaves the table whole,
	// because functions are chosen there.
	applySeen() {
		const { q, w, view, zoomed: { down } } = this;
		const box = view !== 'sandwich' && down.parent ? down : null;
		const key = box ? `${view} ${pathOf(box).join()}` : '';
		if (this.seen && this.seenOf === w && this.seenKey === key) {
			this.applyShare();
			return;
		}
		[this.seenOf, this.seenKey] = [w, key];
		this.seen = !box ? w : view === 'flame' ? weighBelow(q, w, box.items[0])
			: weigh(q, selfsEndingWith(q, w.self, pathOf(box)));
		this.share = undefined;
		this.table.setWeights(this.seen, w === this.all && !box);
		this.showLegend();
		this.showShown();
		this.applyShare();
	}

	// Computes the share of the search, if it is not known.
	applyShare() {
		if (this.share !== undefined)
			return;
		const { q, seen, matches } = this;
		const share = (sum, side) => (sum > 0 ? matchedWeight(q, seen, matches, side) / sum : 0);
		this.share = matches ? seen.sum.map(share) : null;
		this.showMatched('');
	}

	applySearch() {
		const text = this.query = this.state.query, input = el('query');
		this.matches = null;
		this.found = null;
		this.wrong = '';
		if (document.activeElement !== input || text === '')
			input.value = text;
		try {
			this.matches = text ? matchLabels(this.p, regexOf(text)) : null;
		} catch (e) {
			this.wrong = String(e.message);
		}
		input.classList.toggle('wrong', this.wrong !== '');
		input.title = this.wrong;
		this.share = undefined;
		this.table.setMatches(this.matches);
	}

	// Highlights in the map and the lanes the time of the search, the edits and the chosen function.
	applyHighlight() {
		const { heat, lanes, only, matches, view, of, zoomed: { down, up } } = this;
		const paths = [down, up].map((box) => (box ? pathOf(box).join() : ''));
		const key = [this.edit, matches && this.query, view, of, ...paths].join(' ');
		if (!heat || (this.litKey === key && this.litOnly === only))
			return;
		if (this.litKey !== key)
			this.lit = highlightOf(this);
		[this.litKey, this.litOnly] = [key, only];
		heat.setHighlight(this.lit, only);
		if (lanes)
			lanes.setHighlight(this.lit);
	}

	showMatched(where) {
		el('matched').textContent = this.wrong ? 'not a regular expression'
			: this.share ? this.share.map(sayPercent).join(' → ') + where : '';
	}

	factor() {
		const [a, b] = this.w.sum, mode = this.state.width;
		if (!this.factors[mode]) {
			const part = (sum, weight) => (sum > 0 ? weight / sum : 0);
			const one = this.p.sides === 1;
			this.factors[mode] = one ? [1, 0] : mode === 'before' ? [part(a, 1), 0] : mode === 'after' ? [0, part(b, 1)]
				: [part(a, 0.5), part(b, 0.5)];
		}
		return this.factors[mode];
	}

	applyView() {
		const s = this.state, { q: p, w, trees } = this;
		let view = s.view, of = -1;
		if (view === 'sandwich') {
			of = s.of === '' ? -1 : (this.paths.path(s.of)[0] ?? -1);
			if (of < 0)
				view = 'flame';
		}
		const key = view + of;
		if (!trees[key]) {
			trees[key] = view === 'sandwich' ? { down: Tree.callees(p, w, of), up: Tree.callers(p, w, of) }
				: { down: view === 'reverse' ? Tree.reverse(p, w) : Tree.stacks(p, w) };
			if (view === 'sandwich') {
				const { down, up } = trees[key];
				up.root.self = down.root.self = w.labelSelf.map((self) => self[of]).concat(p.sides === 1 ? [0] : []);
				up.root.twin = down.root;
				down.root.twin = up.root;
			}
		}
		if (this.tree !== trees[key])
			this.hover = this.focus = null;
		this.tree = trees[key];
		this.view = view;
		this.of = of;
		this.zoomed = {
			down: this.tree.down.find(this.paths.path(s.zoom), this.factor()),
			up: this.tree.up ? this.tree.up.find(this.paths.path(s.callers), this.factor()) : null,
		};
		this.table.choose(of);
	}

	// ---- picture

	layout() {
		const pane = el('pane'), { clientWidth: width, clientHeight: height } = pane, { picture } = this;
		if (width === 0 || height === 0)
			return;
		const shape = `${this.view}${this.of}${this.state.icicle}`, fresh = shape !== this.shape;
		const up = this.lay(picture, width);
		this.shape = shape;
		el('spacer').style.height = `${Math.max(picture.height, height)}px`;
		if (picture.fromBottom && (fresh || this.atBottom))
			pane.scrollTop = pane.scrollHeight;
		else if (fresh)
			pane.scrollTop = up ? Math.max(0, (up.length - 1) * picture.rowHeight - height / 2) : 0;
		this.noteScroll();
		const none = this.w.sum.every((sum) => !(sum > 0));
		el('empty').hidden = !none;
		const things = this.p.unit === 'events' ? 'events' : 'samples';
		const ranged = this.heat && this.heat.range;
		const why = this.edits.length ? ' left by the edits' : ranged ? ' in this range of time' : '';
		el('empty').textContent = `No ${things}${why}.`;
		this.showCrumbs();
		this.draw();
	}

	// Lays out a picture of the given width. Returns the rows of callers, or null. The window's picture
	// must be laid out again after another one, because boxes remember only one place.
	lay(picture, width) {
		const { tree } = this, factor = this.factor(), heavy = this.state.heavy === '1';
		const rows = (one, zoom) => layTree(one, zoom, width, this.least(width), factor, heavy);
		const down = rows(tree.down, this.zoomed.down);
		const up = tree.up ? rows(tree.up, this.zoomed.up) : null;
		picture.lay(down, up, this.state.icicle === '1');
		return up;
	}

	least(width) {
		const text = this.p.options.get('minwidth') || '', n = parseFloat(text);
		const least = !(n >= 0) ? 0.5 : text.endsWith('%') ? width * n / 100 : n;
		return Math.max(0.05, least);
	}

	// Notes whether the root is in view, so that it stays there when the pane gets lower.
	noteScroll() {
		const pane = el('pane');
		this.atBottom = !this.picture.fromBottom || pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2;
	}

	// Returns where in the picture the canvas begins. In a higher pane the picture is at the bottom.
	top() {
		const pane = el('pane'), free = pane.clientHeight - this.picture.height;
		return pane.scrollTop - (this.picture.fromBottom && free > 0 ? free : 0);
	}

	draw() {
		this.asked = false;
		const pane = el('pane');
		const placed = (box) => (box ? this.placed(box) : null);
		const hover = this.hover && !this.hover.rest ? this.hover.box : null;
		this.picture.draw(el('graph'), pane.clientWidth, pane.clientHeight, this.top(), {
			...this.look(), hover: placed(hover), focus: placed(this.focus),
			centre: this.tree.up ? placed(this.tree.down.root) : null,
		});
		this.showDetails();
	}

	// The look of any picture of this view; see Picture.draw.
	look() {
		const { palette, p } = this;
		return {
			palette, matches: this.matches, hover: null, focus: null, centre: null,
			fill: (box, pale) => this.fill(box, pale),
			marks: p.sides === 2 ? (box) => this.mark(box) : null,
			label: (box) => shown(p.name(box.label)),
		};
	}

	fill(box, pale) {
		if (this.p.sides === 1)
			return this.palette.label(box.label, pale);
		const verdict = this.verdict(box), change = this.changeOf(box, verdict);
		return verdict < UNJUDGED_MERGED ? this.palette.change(change, pale) : this.palette.unjudged(change, pale);
	}

	labelFill(label) {
		return this.p.sides === 2 ? this.palette.change(this.labelChange(label)) : this.palette.label(label, false);
	}

	redraw() {
		if (!this.asked)
			requestAnimationFrame(() => this.draw());
		this.asked = true;
	}

	placed(box) {
		return this.picture.findBox(box) || (box.twin ? this.picture.findBox(box.twin) : null);
	}

	// ---- differences

	// The data has verdicts for nodes and names. A box has a verdict if its samples are those of a node
	// or a name.
	verdict(box) {
		if (!box.parent && this.view !== 'sandwich')
			return 0;
		if (this.edits.length)
			return UNJUDGED_EDITED;
		return this.state.delta === 'self' ? this.selfVerdict(box) : this.totalVerdict(box);
	}

	totalVerdict(box) {
		if (box.verdict === undefined)
			box.verdict = this.findVerdict(box);
		return box.verdict;
	}

	findVerdict(box) {
		const { p, w } = this;
		// A parent in the picture may have the same samples.
		for (let at = box; at && sameWeight(at.total, box.total); at = at.parent) {
			if (at.verdict !== undefined)
				return at.verdict;
			for (const [node, ...more] of [at.items, at.origins || []])
				if (node > 0 && more.every((other) => other === node) && sameWeight(w.total.map((total) => total[node]), at.total))
					return p.verdict[node];
			if (sameWeight(w.labelTotal.map((total) => total[at.label]), at.total))
				return p.totalVerdict[at.label];
			if (this.view === 'reverse' && at.level === 1)
				return p.selfVerdict[at.label];
		}
		return UNJUDGED_MERGED;
	}

	selfVerdict(box) {
		if (box.self.every((weight) => weight === 0))
			return 0;
		if (sameWeight(this.w.labelSelf.map((self) => self[box.label]), box.self))
			return this.p.selfVerdict[box.label];
		if (sameWeight(box.self, box.total))
			return this.totalVerdict(box);
		return this.view === 'flame' ? UNJUDGED_PART : UNJUDGED_MERGED;
	}

	shares(box, of) {
		return this.w.sum.map((sum, side) => (sum > 0 ? box[of][side] / sum : 0));
	}

	// Returns the change, -1 .. 1 of the largest of any function; 0: judged and not significant.
	change(box) {
		return this.changeOf(box, this.verdict(box));
	}

	changeOf(box, verdict) {
		const of = this.state.delta === 'self' ? 'self' : 'total';
		const [before, after] = this.shares(box, of);
		if (verdict === 0 || (verdict < UNJUDGED_MERGED && (after > before) !== (verdict === 2 || verdict === 3)))
			return 0;
		return Math.sign(after - before) * Math.sqrt(Math.min(1, Math.abs(after - before) / this.greatest(of)));
	}

	labelChange(label) {
		const box = { total: this.w.labelTotal.map((t) => t[label]), self: this.w.labelSelf.map((s) => s[label]) };
		return this.changeOf(box, this.state.delta === 'self' ? this.p.selfVerdict[label] : this.p.totalVerdict[label]);
	}

	greatest(of) {
		const key = `greatest ${of}`;
		if (!this.factors[key]) {
			const [a, b] = of === 'self' ? this.w.labelSelf : this.w.labelTotal, [sa, sb] = this.w.sum;
			let most = 1e-9;
			for (let l = 0; l < this.p.labels; l++)
				most = Math.max(most, Math.abs((sb > 0 ? b[l] / sb : 0) - (sa > 0 ? a[l] / sa : 0)));
			this.factors[key] = most;
		}
		return this.factors[key];
	}

	mark(box) {
		return box.total[1] === 0 && box.total[0] > 0 ? 'gone' : box.total[0] === 0 && box.total[1] > 0 ? 'new' : '';
	}

	// Returns the number of samples shown, for intervals; 0 if it is not known.
	samples() {
		const { p, w, all } = this, n = Number(p.options.get('samples') || 0);
		return p.sides === 1 && all.sum[0] > 0 ? n * w.sum[0] / all.sum[0] : 0;
	}

	// ---- actions

	zoom(box) {
		if (box.twin)
			this.set({ zoom: '', callers: '' });
		else if (this.inUp(box))
			this.set({ callers: pathWords(this.p, pathOf(box)) });
		else
			this.set({ zoom: pathWords(this.p, pathOf(box)) });
	}

	inUp(box) {
		while (box.parent)
			box = box.parent;
		return this.tree.up ? box === this.tree.up.root : false;
	}

	zoomOut() {
		const { down, up } = this.zoomed;
		if (up && up.parent && !down.parent)
			this.zoom(up.parent.parent ? up.parent : this.tree.down.root);
		else if (down.parent)
			this.set({ zoom: pathWords(this.p, pathOf(down.parent)) });
	}

	reset() {
		this.set({ zoom: '', callers: '' });
	}

	showView(view) {
		this.set({ view, of: '', zoom: '', callers: '' });
	}

	sandwich(label) {
		if (label >= 0 && label < this.p.labels)
			this.set({ view: 'sandwich', of: labelWord(this.p, label), zoom: '', callers: '' });
	}

	// Returns the box under the pointer, or the focused one.
	current() {
		const box = this.hover && !this.hover.rest ? this.hover.box : this.focus;
		return box || (this.zoomed.down.parent ? this.zoomed.down : null);
	}

	searchName(label) {
		const text = this.p.name(label).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
		this.set({ query: `^${text}$` });
	}

	selectRange(range) {
		this.set({ range: range ? `${range[0]}-${range[1]}` : '' });
		const words = `${this.heat.words(range)}: ${this.format.weight(this.w.sum[0])}`;
		this.say(words);
	}

	setFocus(box) {
		this.focus = box;
		this.hover = null;
		el('tip').hidden = true;
		const one = this.placed(box), pane = el('pane');
		if (one) {
			const y = one.row * this.picture.rowHeight - this.top() + pane.scrollTop;
			if (y < pane.scrollTop)
				pane.scrollTop = y;
			else if (y + this.picture.rowHeight > pane.scrollTop + pane.clientHeight)
				pane.scrollTop = y + this.picture.rowHeight - pane.clientHeight;
		}
		const facts = this.facts(box).map((fact) => fact.join(' ')).join(', ');
		this.say(`${shown(fullName(this.p, box.label).slice(0, 300))}: ${facts}`);
		this.redraw();
	}

	// ---- matches

	// Lists the outermost matching nodes, the widest first; if boxes are merged, the visible boxes.
	findMatches() {
		const { q: p, w, matches } = this, list = [];
		if (this.view === 'flame') {
			for (let i = 1; i < p.nodes;) {
				if (!matches[p.label[i]]) {
					i++;
					continue;
				}
				if (w.total.some((total) => total[i] > 0))
					list.push(i);
				i = p.end[i];
			}
			return this.widestFirst(list, (side, node) => w.total[side][node]);
		}
		for (const row of this.picture.rows)
			for (const one of row)
				if (!one.rest && matches[one.box.label])
					list.push(one);
		list.sort((a, b) => a.x - b.x || a.row - b.row);
		return this.widestFirst(list.map((one) => one.box), (side, box) => box.total[side]);
	}

	widestFirst(list, weight) {
		const [a, b] = this.factor(), width = Float64Array.from(list, (one) => a * weight(0, one)
			+ (b > 0 ? b * weight(1, one) : 0));
		return Array.from(list.keys()).sort((i, k) => width[k] - width[i]).map((i) => list[i]);
	}

	nextMatch(step) {
		if (!this.matches)
			return;
		const { view, range, edit, fragment, of } = this;
		const key = view === 'flame' ? `${range} ${edit} ${this.state.width}` : `${fragment}${of}`;
		if (!this.found || this.found.key !== key || this.found.tree !== this.tree)
			this.found = { key, tree: this.tree, list: this.findMatches(), at: -1 };
		const { found } = this, n = found.list.length;
		if (n === 0) {
			this.showMatched(' · none');
			return;
		}
		found.at = found.at < 0 ? 0 : (found.at + step + n) % n;
		const one = found.list[found.at];
		const box = typeof one === 'number' ? this.boxOfNode(one) : one;
		this.bring(box);
		this.setFocus(box);
		this.showMatched(` · ${sayCount(found.at + 1)} of ${sayCount(n)}`);
	}

	boxOfNode(node) {
		const path = [];
		for (; node !== 0; node = this.q.parent[node])
			path.push(this.q.label[node]);
		return this.tree.down.find(path.reverse(), this.factor());
	}

	// Zooms in only as far as needed to show the box.
	bring(box) {
		for (const zoom of [null, this.tree.down.root, box.parent, box]) {
			if (zoom)
				this.zoom(zoom);
			const one = this.placed(box);
			if (one && one.w >= 2)
				return;
		}
	}

	say(text) {
		el('live').textContent = text;
	}

	copy(box) {
		if (!box)
			return;
		const text = this.p.name(box.label);
		copyText(text, () => this.say(`copied: ${shown(text.slice(0, 300))}`));
		this.copied = text;
	}
}
