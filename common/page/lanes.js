// Lanes below the heat map: one a thread, process, container or CPU, for the same time. Colours are those of
// the kinds of the innermost frames, and so of the states that a thread waits in. A drag selects a range of
// time, a click leaves only the lane in the flame graph.

const LANE_MODES = { thread: 'Threads', process: 'Processes', container: 'Containers', cpu: 'CPUs',
	none: 'No lanes' };
const LANES_MOST = 200, LANE_BIN = 3; // lanes; pixels
const laneHeight = () => (COARSE.matches ? 32 : 16);
const LANE_ORDER = [0, 1, 2, 3, 4, 5, 6, 8, 10, 9, 7]; // kinds from the bottom up: code, then waits

// Returns the key and the name of the lane that an origin belongs to. A key is the same in every page.
function laneOf(origin, mode, hosts) {
	const { host, container, comm, pid, tid, cpu } = origin, at = hosts ? ` on ${host}` : '';
	if (mode === 'process')
		return { key: `${host}/${pid}`, name: `${comm} ${pid}${at}` };
	if (mode === 'container') {
		const name = container || '(no container)'; // also as key: an empty one chooses all lanes
		return { key: name, name };
	}
	if (mode === 'cpu')
		return { key: `${host}/${cpu}`, name: cpu < 0 ? `no CPU${at}` : `CPU ${cpu}${at}` };
	return { key: `${host}/${pid}/${tid}`, name: `${comm} ${pid === tid ? pid : `${pid}/${tid}`}${at}` };
}

// A page of a directory may have no threads and CPUs, or no processes.
function isKnown(origins, mode) {
	if (mode === 'thread')
		return origins.some(({ tid }) => tid);
	if (mode === 'process')
		return origins.some(({ pid }) => pid);
	return mode !== 'cpu' || origins.some(({ cpu }) => cpu >= 0);
}

// A wait ends on a CPU, but no CPU waits.
const isWait = (kind) => kind === 7 || kind === 9 || kind === 10;

// Sums kinds by lane over all time: { lanes: [{ key, name, sums by kind, ran, all }], of: by origin }.
function makeLanes(p, mode) {
	const t = p.times, lanes = [], byKey = new Map(), of = new Int32Array(t.origins.length);
	const hosts = new Set(t.origins.map((origin) => origin.host)).size > 1;
	t.origins.forEach((origin, i) => {
		const { key, name } = laneOf(origin, mode, hosts);
		if (!byKey.has(key)) {
			byKey.set(key, lanes.length);
			lanes.push({ key, name, sums: new Float64Array(KIND_NAMES.length), ran: 0, all: 0 });
		}
		of[i] = byKey.get(key);
		lanes[of[i]].name = name; // a thread is called by its last name
	});
	visitRange(t, 0, t.slices, (node, who, weight) => {
		const kind = p.kind[p.label[node]], lane = lanes[of[who]];
		if (mode === 'cpu' && isWait(kind))
			return;
		lane.sums[kind] += weight;
		lane.all += weight;
		if (!isWait(kind))
			lane.ran += weight;
	});
	return { lanes, of };
}

// Sums kinds by lane and bin. rows: row by lane, or -1; lit: which nodes are highlighted, or null. Returns
// { sums: rows x bins x kinds, rest: rows x bins }, the rest for nodes that are not highlighted.
function binLanes(p, of, rows, count, window, bins, onCpu, lit) {
	const t = p.times, kinds = KIND_NAMES.length, sums = new Float64Array(count * bins * kinds);
	const rest = new Float64Array(count * bins);
	const [from, to] = window, scale = bins / (to - from);
	visitRange(t, from, to, (node, who, weight, slice, slices) => {
		const row = rows[of[who]], kind = p.kind[p.label[node]];
		if (row < 0 || (onCpu && isWait(kind)))
			return;
		// Weight is evenly spread over its slices, which several bins or a part of one may cover.
		const begin = (slice - from) * scale, end = Math.min(bins, (slice + slices - from) * scale);
		for (let bin = Math.floor(begin); bin < end; bin++) {
			const part = (Math.min(end, bin + 1) - Math.max(begin, bin)) / (end - begin);
			if (!lit || lit[node])
				sums[(row * bins + bin) * kinds + kind] += weight * part;
			else
				rest[row * bins + bin] += weight * part;
		}
	});
	return { sums, rest };
}

class Lanes {
	// events: { mode(mode), lane(key), range(range) }
	constructor(profile, heat, format, palette, events) {
		Object.assign(this, { p: profile, heat, format, palette, events, mode: 'none', chosen: '',
			rows: [], cells: 0, lit: null });
		this.made = {};
		this.hover = null;
		this.makeControls();
		new TimeGestures(this.canvas, this);
		COARSE.addEventListener('change', () => this.later());
		heat.followers.push((moved) => (moved ? this.later() : this.draw()));
		this.box.addEventListener('scroll', () => this.draw());
		this.canvas.addEventListener('keydown', (e) => this.key(e));
	}

	makeControls() {
		const make = (tag, id) => Object.assign(document.createElement(tag), { id });
		this.control = make('select', 'lanemode');
		this.control.setAttribute('aria-label', 'Lanes below the heat map');
		for (const [mode, text] of Object.entries(LANE_MODES)) {
			if (isKnown(this.p.times.origins, mode))
				this.control.append(new Option(text, mode));
		}
		this.control.addEventListener('change', () => this.events.mode(this.control.value));
		this.only = make('button', 'onlylane');
		this.only.type = 'button';
		this.only.addEventListener('click', () => this.events.lane(''));
		document.getElementById('heatside').append(this.control, this.only);
		this.box = make('div', 'lanes');
		this.canvas = make('canvas', 'lanemap');
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute('role', 'application');
		this.canvas.setAttribute('aria-label',
			'Lanes. Up and down move between lanes, Enter leaves only one in the graph.');
		this.box.append(this.canvas);
		document.getElementById('heatpane').append(this.box);
	}

	// mode: a key of LANE_MODES; chosen: key of the lane that is left in the flame graph, or ''
	set(mode, chosen) {
		const changed = mode !== this.mode;
		this.mode = mode;
		this.chosen = chosen;
		this.control.value = mode;
		this.box.hidden = mode === 'none';
		if (changed)
			this.later();
		else
			this.draw();
		const name = chosen && this.nameOf(chosen);
		this.only.hidden = !name;
		this.only.textContent = `Only ${name} ×`;
		this.only.title = 'All lanes in the flame graph again';
	}

	// nodes: which are highlighted, or null for all
	setHighlight(nodes) {
		if (nodes === this.lit)
			return;
		this.lit = nodes;
		this.later();
	}

	lanesOf(mode) {
		return this.made[mode] || (this.made[mode] = makeLanes(this.p, mode));
	}

	nameOf(key) {
		const lane = this.mode === 'none' ? null
			: this.lanesOf(this.mode).lanes.find((one) => one.key === key);
		return lane ? lane.name : '';
	}

	// Returns which origins belong to the chosen lane, or null for all.
	chosenOrigins(mode, key) {
		if (!key || mode === 'none')
			return null;
		const { lanes, of } = this.lanesOf(mode), at = lanes.findIndex((lane) => lane.key === key);
		return at < 0 ? null : Uint8Array.from(of, (lane) => (lane === at ? 1 : 0));
	}

	// The first picture does not wait for the lanes.
	later() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.fold(), 0);
	}

	fold() {
		this.folded = true;
		if (this.mode === 'none' || !this.heat.width)
			return;
		const { lanes, of } = this.lanesOf(this.mode), { heat } = this;
		const order = [...lanes.keys()].filter((i) => lanes[i].all > 0);
		order.sort((a, b) => lanes[b].ran - lanes[a].ran || lanes[b].all - lanes[a].all ||
			(lanes[a].name < lanes[b].name ? -1 : 1));
		this.omitted = Math.max(0, order.length - LANES_MOST);
		this.rows = order.slice(0, LANES_MOST).map((i) => lanes[i]);
		const row = new Int32Array(lanes.length).fill(-1);
		order.slice(0, LANES_MOST).forEach((lane, i) => { row[lane] = i; });
		this.cells = this.rows.length;
		this.left = heat.left;
		this.room = heat.columns * heat.cellWidth;
		this.bins = Math.max(1, Math.min(heat.window[1] - heat.window[0],
			Math.floor(this.room / LANE_BIN)));
		Object.assign(this, binLanes(this.p, of, row, this.rows.length, heat.window, this.bins,
			this.mode === 'cpu', this.lit));
		this.full = this.capacity();
		this.resize();
	}

	// Returns the weight that fills the height of a lane: the time of a bin, if one thread can wait or run
	// in it; otherwise the largest of all bins.
	capacity() {
		const kinds = KIND_NAMES.length, { heat, sums, rest } = this;
		const slices = (heat.window[1] - heat.window[0]) / this.bins;
		if (this.format.exact && this.mode === 'thread')
			return slices * this.p.times.sliceNs;
		let most = 0;
		for (let i = 0; i < sums.length; i += kinds)
			most = Math.max(most, sums.subarray(i, i + kinds).reduce((a, b) => a + b, rest[i / kinds]));
		return most || 1;
	}

	resize() {
		const ratio = window.devicePixelRatio || 1;
		this.width = this.left + this.room + 1;
		this.height = this.rows.length * laneHeight() + (this.omitted ? laneHeight() : 0);
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.max(1, Math.round(this.height * ratio));
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.ratio = ratio;
		this.draw();
	}

	colour(kind) {
		return this.palette().tone(...this.palette().kind(kind), false);
	}

	draw() {
		if (!this.width || this.mode === 'none' || !this.sums)
			return;
		const g = this.canvas.getContext('2d'), first = Math.floor(this.box.scrollTop / laneHeight());
		const last = Math.min(this.rows.length,
			first + Math.ceil((this.box.clientHeight || 200) / laneHeight()) + 1);
		g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		g.clearRect(0, 0, this.width, this.height);
		for (let i = first; i < last; i++)
			this.drawLane(g, i);
		g.globalAlpha = 1;
		if (this.omitted && last === this.rows.length) {
			g.fillStyle = this.format.dim;
			g.fillText(`${this.format.count(this.omitted)} more with less run time`, this.left,
				this.height - 5);
		}
		this.drawRange(g);
	}

	drawLane(g, i) {
		const lane = this.rows[i], kinds = KIND_NAMES.length, top = i * laneHeight(),
			h = laneHeight() - 2;
		const { bins, sums, left } = this, w = this.room / bins, dim = this.chosen !== '' &&
			lane.key !== this.chosen;
		g.globalAlpha = dim ? 0.35 : 1;
		for (const kind of LANE_ORDER) {
			g.fillStyle = this.colour(kind);
			for (let bin = 0; bin < bins; bin++) {
				const at = (i * bins + bin) * kinds, weight = sums[at + kind];
				if (!(weight > 0))
					continue;
				let below = 0;
				for (const other of LANE_ORDER) {
					if (other === kind)
						break;
					below += sums[at + other];
				}
				const y = Math.min(1, below / this.full) * h,
					high = Math.min(h - y, weight / this.full * h);
				g.fillRect(left + bin * w, top + h - y - high, w + 0.3, high);
			}
		}
		if (this.lit)
			this.drawUnlit(g, i, top, h);
		g.font = `10.5px ${FONT}`;
		g.textBaseline = 'middle';
		g.fillStyle = this.format.dim;
		g.globalAlpha = 1;
		g.fillRect(left, top + h, this.room, 0.5);
		this.drawName(g, lane.name, top + h / 2, lane.key === this.chosen ||
			(this.hover && this.hover.row === i));
	}

	// Draws the rest above the kinds.
	drawUnlit(g, i, top, h) {
		const { bins, sums, rest, left, full } = this, kinds = KIND_NAMES.length, w = this.room / bins;
		g.fillStyle = this.heat.grey();
		for (let bin = i * bins; bin < (i + 1) * bins; bin++) {
			const below = sums.subarray(bin * kinds, (bin + 1) * kinds).reduce((a, b) => a + b, 0);
			const y = Math.min(1, below / full) * h, high = Math.min(h - y, rest[bin] / full * h);
			if (high > 0)
				g.fillRect(left + (bin - i * bins) * w, top + h - y - high, w + 0.3, high);
		}
	}

	// Cuts the beginning of a name that is too long, because the ends of names differ.
	drawName(g, name, y, strong) {
		let text = shown(name);
		while (text.length > 4 && g.measureText(text).width > this.left - 8)
			text = `…${text.slice(2)}`;
		g.textAlign = 'right';
		g.fillStyle = strong ? this.format.accent : this.format.dim;
		g.fillText(text, this.left - 5, y);
		g.textAlign = 'left';
	}

	drawRange(g) {
		const { heat } = this, open = this.pressed !== undefined && this.hover;
		const range = open ? [Math.min(this.pressed.slice, this.hover.slice),
			Math.max(this.pressed.slice, this.hover.slice) + 1]
			: heat.range;
		if (!range)
			return;
		const x = (slice) => this.left + Math.max(0,
			Math.min(1, (slice - heat.window[0]) / (heat.window[1] - heat.window[0]))) * this.room;
		g.fillStyle = this.format.dark ? '#14171bb0' : '#ffffffb0';
		g.fillRect(this.left, 0, x(range[0]) - this.left, this.height);
		g.fillRect(x(range[1]), 0, this.left + this.room - x(range[1]), this.height);
		g.strokeStyle = this.format.accent;
		g.lineWidth = 1.5;
		g.strokeRect(x(range[0]), 0.75, Math.max(1, x(range[1]) - x(range[0])),
			Math.max(1, this.height - 1.5));
	}

	// ---- pointer; see TimeGestures

	placeOf(e) {
		const r = this.canvas.getBoundingClientRect(), { heat } = this, [from, to] = heat.window;
		const share = Math.min(1, Math.max(0, (e.clientX - r.left - this.left) / this.room));
		const row = Math.max(0, Math.floor((e.clientY - r.top) / laneHeight()));
		// The row below the last lane counts the omitted ones.
		return { row: Math.min(this.rows.length - 1, row), isLane: row < this.rows.length,
			slice: Math.min(to - 1, Math.floor(from + share * (to - from))) };
	}

	sliceUnder(e) {
		return this.placeOf(e).slice;
	}

	slicesOfPixel() {
		return (this.heat.window[1] - this.heat.window[0]) / this.room;
	}

	panBy(slices) {
		this.heat.panBy(slices);
	}

	zoomBy(factor, at) {
		this.heat.zoomBy(factor, at);
	}

	point(place) {
		this.hover = place === -1 || !(place.isLane || this.pressed) ? null : place;
		this.draw();
		this.tell();
	}

	press(place) {
		this.pressed = this.hover = place;
		this.canvas.focus({ preventScroll: true });
	}

	// A drag along time selects a range; a click chooses the lane, or all lanes again.
	release(place) {
		const { pressed } = this,
			moved = Math.abs(place.slice - pressed.slice) > 3 * this.slicesOfPixel();
		this.pressed = undefined;
		if (moved)
			this.events.range([Math.min(place.slice, pressed.slice),
				Math.max(place.slice, pressed.slice) + 1]);
		else if (place.isLane)
			this.choose(place.row);
		else
			this.point(place); // at no lane
	}

	choose(row) {
		const { key } = this.rows[row];
		this.events.lane(key === this.chosen ? '' : key);
	}

	cancel() {
		this.pressed = undefined;
		this.draw();
	}

	key(e) {
		const step = { ArrowUp: -1, ArrowDown: 1 }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey || this.rows.length === 0)
			return;
		if (step) {
			const row = Math.max(0,
				Math.min(this.rows.length - 1, this.hover ? this.hover.row + step : 0));
			this.hover = { row, slice: this.hover ? this.hover.slice : this.heat.window[0] };
			this.box.scrollTop = Math.min(this.box.scrollTop, row * laneHeight());
			this.box.scrollTop = Math.max(this.box.scrollTop,
				(row + 1) * laneHeight() - this.box.clientHeight);
			this.format.say(this.words());
			this.draw();
		} else if (e.key === 'Enter' && this.hover) {
			this.choose(this.hover.row);
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	// ---- texts

	// Returns what the lane did in the bin under the pointer, such as "db 42: 70 % sleeping, 30 % user".
	words() {
		const { row, slice } = this.hover, kinds = KIND_NAMES.length, [from, to] = this.heat.window;
		const bin = Math.min(this.bins - 1, Math.floor((slice - from) / (to - from) * this.bins));
		const sums = this.sums.subarray((row * this.bins + bin) * kinds,
			(row * this.bins + bin + 1) * kinds);
		const rest = this.rest[row * this.bins + bin], all = sums.reduce((a, b) => a + b, rest);
		const list = [...sums.keys()].filter((kind) => sums[kind] > 0).sort((a, b) =>
			sums[b] - sums[a])
			.map((kind) => `${this.format.percent(sums[kind] / all)} ${KIND_NAMES[kind]}`);
		if (rest > 0)
			list.push(`${this.format.percent(rest / all)} not matched`);
		return `${shown(this.rows[row].name)}, ${this.heat.moment(slice)}\n${list.join(', ') || 'nothing'}`;
	}

	tell() {
		if (this.hover && this.sums && this.rows.length)
			document.getElementById('heatrange').textContent = this.words();
		else
			this.heat.draw();
	}
}
