// The controls around the picture: buttons, path, details, legend, ledger; keys and clicks. Starts the page.

// Makes an element with a class and contents; names are only inserted as text.
function make(tag, className, ...content) {
	const node = document.createElement(tag);
	node.className = className;
	node.append(...content);
	return node;
}

const ACT_OF_KEY = {
	'/': 'search', f: 'flame', r: 'reverse', s: 'sandwich', o: 'heavy', i: 'icicle', t: 'table', d: 'theme', m: 'heat',
	n: 'next', N: 'previous', c: 'copy', '?': 'help', 0: 'reset', ...MENU_KEYS,
};

class App extends Acts {
	constructor(profile) {
		super(profile);
		const p = profile;
		this.menu = new Menu(this);
		const here = (act) => () => {
			const box = this.current();
			if (this.canDo(act, box))
				this.act(act, box);
		};
		this.acts = {
			...Object.fromEntries(Object.values(MENU_KEYS).map((act) => [act, here(act)])),
			flame: () => this.showView('flame'), reverse: () => this.showView('reverse'),
			sandwich: () => this.sandwichCurrent(),
			heavy: () => this.toggle('heavy'), icicle: () => this.toggle('icicle'),
			both: () => this.set({ width: 'both' }), before: () => this.set({ width: 'before' }),
			after: () => this.set({ width: 'after' }),
			dtotal: () => this.set({ delta: 'total' }), dself: () => this.set({ delta: 'self' }),
			previous: () => this.nextMatch(-1), next: () => this.nextMatch(1),
			table: () => this.set({ table: this.tableShown() ? '0' : '1' }),
			theme: () => this.set({ theme: this.format.dark ? 'light' : 'dark' }), help: () => this.showHelp(),
			alltime: () => this.selectRange(null), reset: () => this.reset(),
			search: () => el('query').select(), heat: () => el('heatmap').focus(),
			width: () => this.set({ width: { both: 'before', before: 'after', after: 'both' }[this.state.width] }),
			delta: () => this.set({ delta: this.state.delta === 'self' ? 'total' : 'self' }),
		};
		el('title').textContent = shown(p.title);
		el('subtitle').textContent = shown(p.subtitle);
		document.body.classList.toggle('diff', p.sides === 2);
		document.body.classList.toggle('modules', p.modules);
		el('heat').hidden = !p.times;
		const cell = (tag, text) => make(tag, '', shown(text));
		const line = ([label, value]) => make('div', '', cell('dt', label), cell('dd', value));
		el('ledger').replaceChildren(...p.ledger.map(line));
		document.body.classList.remove('bare');
		el('summary').textContent = shown(p.options.get('summary') || 'Ledger');
		el('account').hidden = p.ledger.length === 0 && !p.options.get('summary');
		el('account').open = false;
		const [before, after] = document.querySelectorAll('[data-act=before], [data-act=after]');
		if (p.sides === 2)
			[before.title, after.title] = p.names.map((name) => `Width: share of ${shown(name)} (w)`);
		for (const [keys, what] of KEYS)
			el('help').append(make('kbd', '', keys), make('span', '', what));
		this.listen();
	}

	listen() {
		for (const button of document.querySelectorAll('[data-act]'))
			button.addEventListener('click', () => this.acts[button.dataset.act]());
		const graph = el('graph'), query = el('query');
		graph.addEventListener('pointermove', (e) => this.point(e));
		graph.addEventListener('pointerleave', () => this.unpoint());
		graph.addEventListener('click', (e) => this.click(e));
		graph.addEventListener('dblclick', (e) => this.sandwichAt(e));
		el('pane').addEventListener('scroll', () => { this.noteScroll(); this.unpoint(); this.redraw(); });
		query.addEventListener('input', () => this.set({ query: query.value }, false));
		query.addEventListener('keydown', (e) => {
			if (e.key === 'Enter')
				this.nextMatch(e.shiftKey ? -1 : 1);
			else if (e.key === 'Escape')
				graph.focus();
			else
				return;
			e.preventDefault();
			e.stopPropagation();
		});
		el('help').addEventListener('click', () => el('help').close());
		document.addEventListener('keydown', (e) => this.key(e));
		for (const event of ['popstate', 'hashchange'])
			window.addEventListener(event, () => this.readFragment());
		this.dark.addEventListener('change', () => { this.setPalette(); this.draw(); });
		this.narrow.addEventListener('change', () => this.apply());
		new ResizeObserver(() => this.resize()).observe(el('pane'));
		this.listenGrip();
		this.paper = new Paper(this);
	}

	// Moves the table's edge by dragging, or by arrow keys.
	listenGrip() {
		const grip = el('grip'), side = el('side');
		const size = (width) => {
			side.style.width = `${Math.min(document.body.clientWidth - 200, Math.max(180, width))}px`;
			noteWidth();
		};
		const noteWidth = () => {
			const share = side.clientWidth / document.body.clientWidth;
			grip.setAttribute('aria-valuenow', String(Math.round(100 * share)));
		};
		new ResizeObserver(noteWidth).observe(side);
		COARSE.addEventListener('change', () => { this.table.refresh(); this.table.paint(); });
		grip.addEventListener('pointerdown', (e) => grip.setPointerCapture(e.pointerId));
		grip.addEventListener('pointermove', (e) => {
			if (grip.hasPointerCapture(e.pointerId))
				size(document.body.clientWidth - e.clientX - 4);
		});
		grip.addEventListener('keydown', (e) => {
			if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight')
				return;
			size(side.clientWidth + (e.key === 'ArrowLeft' ? 24 : -24));
			e.stopPropagation();
		});
	}

	resize() {
		const width = el('heatpane').clientWidth;
		if (this.heat && width !== this.heatWidth)
			this.heat.resize(this.heatWidth = width);
		this.layout();
		this.table.paint();
	}

	toggle(key) {
		this.set({ [key]: this.state[key] === '1' ? '0' : '1' });
	}

	sandwichCurrent() {
		const box = this.current() || this.tree.down.root.kids?.[0];
		if (box)
			this.sandwich(box.label);
	}

	save() {
		const r = document.querySelector('[data-act=save]').getBoundingClientRect();
		const item = (one) => this.menu.button(one[0], '', () => download(this, one), one[1]);
		this.menu.show(DOWNLOADS.map(item), r.left, r.bottom);
	}

	showShown() {
		showEdits(this);
		showPart(this);
	}

	showHelp() {
		if (el('help').open)
			el('help').close();
		else
			el('help').showModal();
	}

	// ---- pointer

	at(e) {
		const r = el('graph').getBoundingClientRect();
		return this.picture.at(e.clientX - r.left, e.clientY - r.top + this.top());
	}

	point(e) {
		const one = this.at(e);
		if (one !== this.hover) {
			this.hover = one;
			el('graph').style.cursor = one && !one.rest ? 'pointer' : 'default';
			this.fillTip(one);
			this.redraw();
		}
		if (one)
			this.placeTip(e);
	}

	unpoint() {
		if (!this.hover)
			return;
		this.hover = null;
		el('tip').hidden = true;
		this.redraw();
	}

	click(e) {
		const one = this.at(e);
		el('graph').focus({ preventScroll: true });
		if (!one || one.rest)
			return;
		el('tip').hidden = true;
		this.hover = null;
		this.focus = one.box;
		this.pressed = one.box;
		this.zoom(one.box);
	}

	// The first of the two clicks has zoomed: use the function that it hit.
	sandwichAt() {
		if (this.pressed)
			this.sandwich(this.pressed.label);
	}

	// ---- keys

	key(e) {
		// The browser's own search finds nothing in a canvas. A second time it opens.
		const find = (e.ctrlKey || e.metaKey) && e.key === 'f' && !e.altKey;
		if (find && document.activeElement !== el('query')) {
			el('query').select();
			e.preventDefault();
		}
		if (e.ctrlKey || e.metaKey || e.altKey || el('help').open && e.key !== '?')
			return;
		if (e.key === 'ContextMenu' || (e.key === 'F10' && e.shiftKey)) {
			this.menu.openAtFocus();
			e.preventDefault();
			return;
		}
		const field = e.target.closest('input, textarea, select');
		if (field) {
			if (e.key === 'Escape') {
				el('graph').focus();
				e.preventDefault(); // browsers would clear the field
			}
			return;
		}
		if (e.target.closest('button, summary') && (e.key === 'Enter' || e.key === ' '))
			return;
		const act = ACT_OF_KEY[e.key] || (this.p.sides === 2 ? { w: 'width', x: 'delta' }[e.key] : undefined);
		if (act)
			this.acts[act]();
		else if (e.key === 'Escape')
			this.escape();
		else if (e.key === 'Backspace')
			this.zoomOut();
		else if (e.key === 'Enter' && this.focus)
			this.zoom(this.focus);
		else if (/^Arrow/.test(e.key))
			this.arrow(e.key);
		else
			return;
		e.preventDefault();
	}

	escape() {
		if (this.zoomed.down.parent || (this.zoomed.up && this.zoomed.up.parent))
			this.reset();
		else if (this.state.query)
			this.set({ query: '' });
		else if (this.view !== 'flame')
			this.showView('flame');
	}

	// Up and down move to the parent or the widest child, sideways to the neighbour in the row.
	arrow(key) {
		const one = this.focus && this.placed(this.focus);
		if (!one) {
			this.setFocus(this.zoomed.down);
			return;
		}
		const row = one.row + { ArrowUp: -1, ArrowDown: 1, ArrowLeft: 0, ArrowRight: 0 }[key];
		const there = (this.picture.rows[row] || []).filter((other) => !other.rest);
		let next;
		if (row === one.row) {
			next = there[there.indexOf(one) + (key === 'ArrowLeft' ? -1 : 1)];
		} else {
			const mine = (box) => box && (box === one.box || box === one.box.twin);
			const parent = one.box.parent;
			next = there.find((other) => parent && (other.box === parent || other.box === parent.twin)) ||
				there.filter((other) => mine(other.box.parent)).sort((a, b) => b.w - a.w)[0];
		}
		if (next)
			this.setFocus(next.box);
	}

	// ---- texts

	// Returns the facts about a box, as pairs.
	facts(box) {
		const { p, format } = this, up = this.tree.up ? this.inUp(box) && !box.twin : this.view === 'reverse';
		const facts = [], parent = box.parent;
		const line = (of) => {
			const shares = this.shares(box, of), part = shares.map(format.percent).join(' → ');
			const weight = box[of].slice(0, p.sides).map(format.weight).join(' → ');
			if (p.sides === 1)
				return `${weight}${sayUnit(p.unit, box[of][0])} (${part})`;
			return `${part}, ${format.points(shares[1] - shares[0])} points (${weight})`;
		};
		facts.push([up && box.parent ? 'through here' : 'total', line('total')]);
		facts.push([up && box.parent ? 'beginning here' : 'self', line('self')]);
		if (parent) {
			const share = (of, side) => (of > 0 ? box.total[side] / of : 0), part = parent.total.slice(0, p.sides).map(share);
			facts.push([up ? 'of its callee' : 'of parent', part.map(format.percent).join(' → ')]);
		}
		if (p.sides === 2 && (box.parent || this.view === 'sandwich')) {
			const mark = this.mark(box), verdict = this.verdict(box);
			const but = mark && (verdict === 0 || verdict >= UNJUDGED_MERGED) ? `${mark}, but ` : '';
			facts.push([`change of ${this.state.delta}`, but + VERDICTS[verdict]]);
		}
		return facts;
	}

	// Returns the 95 % intervals of a box's shares, as a fact; none if the number of samples is not known.
	intervals(box) {
		const n = this.samples(), sum = this.w.sum[0];
		if (!(n > 0 && sum > 0 && box.parent))
			return [];
		const say = (of) => {
			const [low, high] = intervalOf(n * Math.min(1, box[of][0] / sum), n);
			return `${of} ${(100 * low).toFixed(2)} to ${(100 * high).toFixed(2)} %`;
		};
		const own = box.self[0] > 0 && box.self[0] !== box.total[0];
		return [['95 % interval', own ? `${say('total')}, ${say('self')}` : say('total')]];
	}

	// The kind and the module of a box, if they are known.
	kindOf({ label }) {
		const { p } = this, kind = p.kinds || p.kind[label] > 4 ? KIND_NAMES[p.kind[label]] : '';
		return [kind, shown(p.module(label))].filter((text) => text).join(' · ');
	}

	fillTip(one) {
		const tip = el('tip');
		tip.hidden = !one;
		if (!one)
			return;
		if (one.rest) {
			tip.replaceChildren(make('p', 'dim', `some of ${sayCount(one.rest)} frames too narrow to draw, below `),
				make('b', '', shown(this.p.name(one.box.label).slice(0, 300))));
			return;
		}
		const list = make('dl', '');
		for (const [label, value] of [...this.facts(one.box), ...this.intervals(one.box)])
			list.append(make('dt', '', label), make('dd', '', value));
		const name = shown(this.p.name(one.box.label).slice(0, 700));
		tip.replaceChildren(make('b', '', name), make('span', 'dim', this.kindOf(one.box)), list);
	}

	placeTip(e) {
		const tip = el('tip'), { clientWidth: width, clientHeight: height } = document.documentElement;
		const x = e.clientX + 14 + tip.offsetWidth > width ? e.clientX - 14 - tip.offsetWidth : e.clientX + 14;
		const y = e.clientY + 18 + tip.offsetHeight > height ? e.clientY - 12 - tip.offsetHeight : e.clientY + 18;
		tip.style.left = `${Math.max(4, x)}px`;
		tip.style.top = `${Math.max(4, y)}px`;
	}

	showDetails() {
		const box = this.current() || this.tree.down.root, mark = make('i', '');
		mark.style.background = this.fill(box, false);
		const list = make('dl', '');
		for (const [label, value] of this.facts(box))
			list.append(make('div', '', make('dt', '', label), make('dd', '', value)));
		const name = make('b', '', shown(this.p.name(box.label).slice(0, 400)));
		const module = make('span', 'dim', shown(this.p.module(box.label)));
		el('details').replaceChildren(mark, name, module, list);
	}

	showCrumbs() {
		const { p } = this, crumbs = [], add = (box, text) => {
			const button = make('button', '', shown(text.slice(0, 80)));
			button.type = 'button';
			button.title = shown(text.slice(0, 1000));
			button.addEventListener('click', () => this.zoom(box));
			crumbs.push(button);
		};
		const chain = (box) => {
			const boxes = [];
			for (; box && box.parent; box = box.parent)
				boxes.push(box);
			return boxes.reverse();
		};
		add(this.tree.down.root, this.view === 'sandwich' ? p.name(this.of) : 'all');
		for (const box of chain(this.zoomed.down))
			add(box, p.name(box.label));
		if (this.zoomed.up && this.zoomed.up.parent) {
			crumbs.push(make('span', 'dim', 'called by'));
			for (const box of chain(this.zoomed.up))
				add(box, p.name(box.label));
		}
		if (crumbs.length > 1) {
			const button = make('button', 'reset', 'Reset');
			button.type = 'button';
			button.title = 'All (Escape)';
			button.addEventListener('click', () => this.reset());
			crumbs.push(button);
		}
		el('crumbs').replaceChildren(...crumbs);
		el('crumbs').scrollLeft = 1e9;
	}

	showButtons() {
		const s = this.state;
		const on = [this.view, s.width, `d${s.delta}`, ...['heavy', 'icicle'].filter((key) => s[key] === '1'),
			this.tableShown() ? 'table' : ''];
		for (const button of document.querySelectorAll('.group [data-act]'))
			if (!['theme', 'help', 'save'].includes(button.dataset.act))
				button.setAttribute('aria-pressed', String(on.includes(button.dataset.act)));
	}

	// Few samples are a weak basis, also in a range of time of a long capture.
	showCaution() {
		const { p } = this, words = cautionOf(this.samples()) || (p.sides === 2 && p.options.get('caution')) || '';
		el('caution').textContent = words && words[0].toUpperCase() + words.slice(1);
		el('caution').hidden = words === '';
	}

	showLegend() {
		const { p, seen: w, palette } = this, list = [];
		const add = (colour, className, text, share) => {
			const mark = make('i', className);
			mark.style.background = colour;
			list.push(make('span', '', mark, text, make('em', '', share)));
		};
		if (p.sides === 2) {
			list.push(...sayNames(p.names).map((name) => make('span', 'side', name)));
			add(palette.change(-1), '', 'less', '');
			add(palette.change(0), '', 'not significant', '');
			add(palette.change(1), '', 'more', '');
			add(`linear-gradient(90deg, ${palette.unjudged(-1)} 50%, ${palette.unjudged(1)} 50%)`, '', 'not judged', '');
			add(palette.change(0), 'gone', 'gone', '');
			add(palette.change(0), 'new', 'new', '');
		} else {
			const self = new Float64Array(KIND_NAMES.length);
			for (let l = 0; l < p.labels; l++)
				self[p.kind[l]] += w.labelSelf[0][l];
			for (const kind of KIND_ORDER) {
				const colour = palette.tone(...palette.kind(kind), false);
				if (self[kind] > 0 && (p.kinds || kind > 4))
					add(colour, '', KIND_NAMES[kind], sayPercent(self[kind] / w.sum[0]));
			}
		}
		el('legend').replaceChildren(...list);
		this.showCaution();
	}
}

// For tests and the browser's console.
function publish(app) {
	const { p } = app;
	const both = (pair) => (p.sides === 2 ? pair.slice(0, 2) : pair[0]);
	const frame = (one) => {
		const r = el('graph').getBoundingClientRect(), y = one.row * app.picture.rowHeight - app.top(), { box } = one;
		return {
			name: p.name(box.label), kind: KIND_NAMES[p.kind[box.label]], level: box.level, x: one.x, y, w: one.w,
			total: both(box.total), self: both(box.self), up: app.tree.up ? app.inUp(box) && !box.twin : false,
			path: pathOf(box).map((l) => [p.name(l), p.kind[l]]), mark: p.sides === 2 ? app.mark(box) : '',
			verdict: p.sides === 2 ? VERDICTS[app.verdict(box)] : '', change: p.sides === 2 ? app.change(box) : 0,
			clientX: r.left + one.x + one.w / 2, clientY: r.top + y + app.picture.rowHeight / 2,
		};
	};
	const all = () => app.picture.rows.flat();
	const names = (box) => pathOf(box).map((l) => p.name(l));
	Object.assign(window.cprof, {
		app,
		frames: () => all().filter((one) => !one.rest).map(frame),
		count: () => all().filter((one) => !one.rest).length, rests: () => all().filter((one) => one.rest).length,
		search: () => ({ query: app.state.query, share: app.share && both(app.share), wrong: app.wrong,
			labels: app.matches ? app.matches.reduce((a, b) => a + b, 0) : 0, shown: el('matched').textContent }),
		totals: () => both(app.w.sum), width: () => el('pane').clientWidth,
		state: () => ({ ...app.state, shown: app.view }),
		focus: () => (app.focus ? { name: p.name(app.focus.label), path: names(app.focus) } : null),
		zoomed: () => names(app.zoomed.down),
		table: () => app.table.rows.map((l) => ({
			name: p.name(l), kind: KIND_NAMES[p.kind[l]], module: p.module(l),
			self: app.seen.labelSelf.map((s) => s[l]),
			total: app.seen.labelTotal.map((t) => t[l]),
		})),
		heat: () => (app.heat ? {
			lit: Array.from(app.heat.lit), range: app.heat.range, columns: app.heat.columns, rows: app.heat.rows, cells: Array.from(app.heat.weight),
			left: app.heat.left, cellWidth: app.heat.cellWidth, cellHeight: app.heat.cellHeight,
			window: app.heat.window, group: app.heat.group,
		} : null),
		colours: () => all().filter((one) => !one.rest && one.w > 12).map((one) => {
			const f = frame(one), r = window.devicePixelRatio || 1, g = el('graph').getContext('2d');
			const seen = f.y >= 0 && f.y < el('graph').clientHeight - 20;
			const at = (x, y) => Array.from(g.getImageData(x * r, y * r, 1, 1).data.slice(0, 3));
			const pixel = seen ? at(f.x + 2, f.y + 9) : null;
			return { ...app.picture.colours(one, app.look()), name: f.name, plain: f.mark === '', pixel };
		}),
		lanes: () => {
			app.lanes.fold();
			const { rows, sums, rest, bins, mode, chosen, omitted, left, room } = app.lanes;
			const row = ({ key, name, sums: kinds }) => ({ key, name, sums: Array.from(kinds) });
			return { rows: rows.map(row), bins,
				sums: Array.from(sums || []), rest: Array.from(rest || []), mode, chosen, omitted, left, room };
		},
		edits: () => app.edits.map(([verb, label]) => (label < 0 ? [verb] : [verb, p.name(label)])),
		seen: () => both(app.seen.sum),
		copied: () => app.copied, nodes: p.nodes - 1, labels: p.labels,
	});
}

async function start() {
	const data = document.documentElement.dataset, mark = (name) => { data[name] = performance.now().toFixed(1); };
	mark('scriptMs');
	const block = el('data');
	const bytes = await inflate(fromBase64(block.textContent.trim()));
	block.remove();
	mark('inflateMs');
	const profile = readProfile(bytes);
	mark('readMs');
	const app = new App(profile);
	app.readFragment();
	app.resize();
	publish(app);
	await openSources(app);
	mark('openMs');
}

window.cprof = {};
window.cprof.ready = start().catch((e) => {
	el('empty').hidden = false;
	el('empty').textContent = `This page cannot show its profile: ${e.message}`;
	throw e;
});
