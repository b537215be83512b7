// The heat map: time runs down and then to the right, in columns of cells. It shows all time or a window of
// it. A range of cells is selected by dragging, by two clicks, by touching long, or by the keyboard.

const HEAT_ROWS = 60, LEAST_COLUMN = 5, ENOUGH = 10; // rows, pixels, expected samples of a cell
const LENGTHS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120,
	300, 600, 1200,
	1800, 3600, 7200, 21600, 43200, 86400, 604800];

// Chooses cells and columns for a window of slices: { group: slices of a cell, rows, columns }. least: the
// shortest cell wanted, in slices. No column is narrower than LEAST_COLUMN.
function cellsOf(slices, sliceNs, width, least) {
	const lengths = LENGTHS.map((s) => Math.round(s * 1e9 / sliceNs)).filter((n, i, all) => n >= 1 &&
		n !== all[i - 1] &&
		Math.abs(n * sliceNs / 1e9 - LENGTHS[i]) < 1e-9);
	const second = Math.round(1e9 / sliceNs), most = Math.max(1, Math.floor(width / LEAST_COLUMN));
	for (const group of [...new Set([1, ...lengths])].sort((a, b) => a - b)) {
		if (group < least)
			continue;
		const fit = lengths.filter((n) => n % group === 0 && n / group <= HEAT_ROWS &&
			Math.ceil(slices / n) <= most);
		const good = fit.filter((n) => n / group >= 5), many = fit.filter((n) => slices / n >= 8);
		const best = good.find((n) => n === second && many.includes(n)) ||
			good.find((n) => many.includes(n));
		const column = best || many[many.length - 1] || fit[0];
		if (column)
			return { group, rows: column / group, columns: Math.ceil(slices / column) };
	}
	const group = Math.ceil(slices / most / HEAT_ROWS);
	return { group, rows: HEAT_ROWS, columns: Math.ceil(slices / group / HEAT_ROWS) };
}

class HeatMap {
	// changed(range): [from, to) in slices, or null for all time
	constructor(times, format, changed, slice) {
		this.t = times;
		this.clock = new Clock(times);
		this.format = format;
		this.changed = changed;
		this.range = null;
		this.counts = null; // tells which weight is highlighted, by node and origin; null: all
		this.anchor = -1; // first cell of an unfinished selection
		this.cursor = -1;
		this.hover = -1;
		this.window = [0, times.slices];
		this.zoomed = () => {}; // called with the word of a new window
		this.followers = []; // called when the window or the range has changed
		// Slices of the cells that show all time: enough samples, but not fewer than eight cells
		this.enough = slice ? 1 : Math.max(1, Math.min(this.sliceOfEnough(), times.slices / 8));
		this.canvas = document.getElementById('heatmap');
		this.makeControls();
		this.width = 0;
		this.wheelZooms = true;
		new TimeGestures(this.canvas, this);
		this.canvas.addEventListener('keydown', (e) => this.key(e));
		this.canvas.addEventListener('blur', () => this.draw());
	}

	// Cells with fewer samples show noise. Waits and run time are known exactly, so they need no samples.
	sliceOfEnough() {
		const { t, format } = this;
		let sum = 0;
		if (format.exact)
			return 1;
		for (let i = 0; i < t.entries; i++)
			sum += t.weight[i];
		const samples = format.samples > 0 ? format.samples : sum;
		return samples > 0 ? Math.max(1, ENOUGH * t.slices / samples) : 1;
	}

	makeControls() {
		const side = document.getElementById('heatside');
		const button = (text, title, act) => {
			const b = document.createElement('button');
			b.type = 'button';
			b.textContent = text;
			b.title = title;
			b.setAttribute('aria-label', title);
			b.addEventListener('click', act);
			return b;
		};
		this.level = document.createElement('span');
		this.level.id = 'heatlevel';
		const zoom = document.createElement('span');
		zoom.id = 'heatzoom';
		zoom.append(button('−', 'Show more time (-)', () => this.zoomBy(2)),
			button('+', 'Show less time (+)', () => this.zoomBy(0.5)),
			button('All', 'Show all time (0)', () => this.setWindow([0, this.t.slices])));
		this.legend = document.createElement('span');
		this.legend.id = 'heatlegend';
		this.legend.setAttribute('role', 'img');
		for (const one of [zoom, this.level, this.legend])
			side.insertBefore(one, document.getElementById('heatrange'));
	}

	// Chooses the cells for the window, and sums them.
	fold() {
		const { t } = this, slices = this.window[1] - this.window[0];
		const zoomed = t.slices / slices;
		const chosen = cellsOf(slices, t.sliceNs, Math.max(50, this.room),
			Math.max(1, Math.floor(this.enough / zoomed + 0.001)));
		Object.assign(this, chosen);
		this.cells = Math.min(Math.ceil(slices / this.group), this.columns * this.rows);
		this.weight = weightOfCells(t, this.window[0], this.cells, this.group);
		this.foldHighlight();
		this.hover = this.cursor = this.anchor = -1;
	}

	foldHighlight() {
		const { t, weight, counts, cells, group } = this;
		const max = (list) => list.reduce((a, b) => Math.max(a, b), 0);
		this.lit = counts ? weightOfCells(t, this.window[0], cells, group, counts) : weight;
		this.most = max(this.lit);
		this.highest = max(weight);
		this.pictureKey = this.summed = '';
	}

	// Highlights a part of the weight. nodes, origins: which, or null for all
	setHighlight(nodes, origins) {
		this.counts = !nodes && !origins ? null
			: (node, who) => (!nodes || nodes[node]) && (!origins || origins[who]);
		if (this.width) {
			this.foldHighlight();
			this.draw();
		}
	}

	// ---- time and cells

	sliceOf(cell) {
		return this.window[0] + cell * this.group;
	}

	moment(slice) {
		return this.clock.both(slice, this.t.sliceNs);
	}

	sayWeight(weight) {
		return this.format.weight(weight) + sayUnit(this.format.unit, weight);
	}

	// Returns "3 of 10 samples" if a part is highlighted.
	sayPart(lit, weight) {
		if (!this.counts)
			return this.sayWeight(weight);
		return `${this.format.weight(lit)} of ${this.sayWeight(weight)}`;
	}

	wordsOf(cell, moment = this.moment(this.sliceOf(cell))) {
		const { runs } = this.t, slice = this.sliceOf(cell);
		const run = runs.length ? ` (capture ${this.clock.run(slice) + 1})` : '';
		return `${moment}: ${this.sayPart(this.lit[cell], this.weight[cell])}${run}`;
	}

	words(range) {
		if (!range)
			return 'all time';
		const to = Math.min(range[1], this.t.slices), clock = this.clock.clock(range[0]);
		const clocks = clock && `\n${clock} – ${this.clock.clock(to)}`;
		return `${this.clock.seconds(range[0])} – ${this.clock.seconds(to)}${clocks}`;
	}

	// Returns "2,970 ticks expected: 2,950 emitted, 20 idle" for a range, or '' if there is no ledger.
	ledgerWords(range) {
		const sums = ticksOfRange(this.t, range), expected = sums.get('expected');
		if (!expected)
			return '';
		const rest = [...sums].filter(([name, n]) => name !== 'expected' && Math.round(n) > 0);
		const list = rest.map(([name, n]) => `${this.format.count(n)} ${name}`);
		return `about ${this.format.count(expected)} ticks expected${list.length ? `: ${list.join(', ')}` : ''}`;
	}

	setRange(range) {
		this.range = range && range[1] > range[0]
			? [Math.max(0, range[0]), Math.min(range[1], this.t.slices)] : null;
		if (this.range && this.range[0] >= this.range[1])
			this.range = null;
		this.anchor = -1;
		this.draw();
	}

	// ---- the window

	setWindow([from, to]) {
		const { slices } = this.t, second = 1e9 / this.t.sliceNs;
		const length = Math.min(slices,
			Math.max(Math.min(slices, Math.ceil(second)), Math.round(to - from)));
		const begin = Math.max(0,
			Math.min(slices - length, Math.round(from / this.group) * this.group));
		if (begin === this.window[0] && begin + length === this.window[1])
			return;
		this.window = [begin, begin + length];
		this.resize(this.outer);
		// Panning moves the window many times a second.
		clearTimeout(this.telling);
		this.telling = setTimeout(() => this.zoomed(this.windowWord()), 150);
	}

	// The window as a word for links: '' is all time.
	windowWord() {
		const [from, to] = this.window;
		return to - from < this.t.slices ? `${from}-${to}` : '';
	}

	// Shows the window of a link, as exactly as it was.
	restoreWindow(word) {
		if (word === this.windowWord())
			return;
		const m = /^(\d+)-(\d+)$/.exec(word), { slices } = this.t;
		const [from, to] = m ? [Number(m[1]), Math.min(slices, Number(m[2]))] : [0, slices];
		this.window = from < to ? [from, to] : [0, slices];
		clearTimeout(this.telling);
		if (this.outer)
			this.resize(this.outer);
	}

	// Shows factor times as much time, and keeps the slice at its place.
	zoomBy(factor, at = this.range ? (this.range[0] + this.range[1]) / 2
		: (this.window[0] + this.window[1]) / 2) {
		const [from, to] = this.window, within = Math.min(to, Math.max(from, at));
		this.setWindow([within - (within - from) * factor, within + (to - within) * factor]);
	}

	panBy(slices) {
		const [from, to] = this.window, { slices: all } = this.t,
			begin = Math.max(0, Math.min(all - (to - from), from + slices));
		this.setWindow([begin, begin + to - from]);
	}

	// ---- pointer; see TimeGestures

	cellAt(e) {
		const r = this.canvas.getBoundingClientRect();
		const within = (n, of) => Math.min(of - 1, Math.max(0, Math.floor(n)));
		const column = within((e.clientX - r.left - this.left) / this.cellWidth, this.columns);
		const row = within((e.clientY - r.top) / this.cellHeight, this.rows);
		return Math.min(this.cells - 1, column * this.rows + row);
	}

	placeOf(e) {
		return this.cellAt(e);
	}

	sliceUnder(e) {
		return this.sliceOf(this.cellAt(e));
	}

	slicesOfPixel() {
		return this.rows * this.group / this.cellWidth;
	}

	point(cell) {
		this.hover = cell;
		this.draw();
	}

	// A click begins a range, and the next click ends it.
	press(cell) {
		this.canvas.focus({ preventScroll: true });
		this.cursor = this.hover = cell;
		this.second = this.anchor >= 0;
		this.pressed = cell;
		if (!this.second)
			this.anchor = cell;
		this.draw();
	}

	release(cell, dragged) {
		if (this.anchor < 0)
			return;
		if (dragged && this.second)
			this.anchor = this.pressed;
		this.pressed = undefined;
		this.cursor = cell;
		if (dragged || this.second)
			this.finish(cell);
		else
			this.draw();
	}

	cancel() {
		this.anchor = -1;
		this.pressed = undefined;
		this.draw();
	}

	finish(cell) {
		const from = Math.min(this.anchor, cell), to = Math.max(this.anchor, cell) + 1;
		this.setRange([this.sliceOf(from), this.sliceOf(to)]);
		this.changed(this.range);
	}

	key(e) {
		const { rows } = this, all = Infinity;
		const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -rows, ArrowRight: rows, Home: -all,
			End: all }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey || this.cells === 0)
			return;
		if (step !== undefined) {
			const next = Math.max(0, this.cursor) + (this.cursor < 0 ? 0 : step);
			if (next < 0 || next >= this.cells)
				this.panBy(Math.sign(step) * (Number.isFinite(step) ? rows * this.group : 0));
			this.cursor = Math.min(this.cells - 1, Math.max(0, next));
			this.format.say(this.wordsOf(this.cursor));
			this.draw();
		} else if ((e.key === 'Enter' || e.key === ' ') && this.cursor >= 0) {
			if (this.anchor >= 0) {
				this.finish(this.cursor);
			} else {
				this.anchor = this.cursor;
				this.format.say(`from ${this.moment(this.sliceOf(this.anchor))}`);
				this.draw();
			}
		} else if (e.key === '+' || e.key === '-') {
			this.zoomBy(e.key === '+' ? 0.5 : 2, this.cursor < 0 ? undefined
				: this.sliceOf(this.cursor));
		} else if (e.key === '0') {
			this.setWindow([0, this.t.slices]);
		} else if (e.key === 'Escape' && (this.anchor >= 0 || this.range)) {
			const had = this.range;
			this.setRange(null);
			if (had)
				this.changed(null);
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}

	// Returns the range of cells that are selected or being selected.
	selected() {
		if (this.anchor >= 0) {
			const other = this.hover >= 0 ? this.hover : Math.max(0, this.cursor);
			return [Math.min(this.anchor, other), Math.max(this.anchor, other) + 1];
		}
		if (!this.range)
			return null;
		const cell = (slice, round) =>
			Math.max(0, Math.min(this.cells, round((slice - this.window[0]) / this.group)));
		return [cell(this.range[0], Math.floor), cell(this.range[1], Math.ceil)];
	}

	// ---- drawing

	resize(width) {
		this.outer = width;
		this.left = width < 500 ? 96 : 132; // room for the names of lanes
		this.room = width - this.left - 8;
		this.fold();
		// The same height for any number of rows: nothing moves under a finger that zooms.
		const room = window.innerHeight < 600 ? 90 : 120;
		this.cellHeight = room / this.rows;
		this.cellWidth = Math.max(1, this.room / this.columns);
		const ratio = window.devicePixelRatio || 1;
		this.width = this.left + this.columns * this.cellWidth + 1;
		this.height = room + (this.t.starts.some((start) => start > 0) ? 32 : 18);
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.ratio = ratio;
		this.draw();
		for (const follow of this.followers)
			follow(true);
	}

	// Returns where a row begins, at a whole pixel of the screen.
	top(row) {
		return Math.round(row * this.cellHeight * this.ratio) / this.ratio;
	}

	// Returns the colour of a cell with time but nothing highlighted.
	grey() {
		return this.format.dark ? '#3d444c' : '#c9ced4';
	}

	colour(share) {
		const { dark } = this.format;
		if (share === 0)
			return dark ? '#20252b' : '#eef0f2';
		const s = share ** 0.8;
		return dark ? oklch(0.26 + 0.6 * s, 0.05 + 0.1 * s, 280 + 150 * s)
			: oklch(0.95 - 0.42 * s, 0.03 + 0.13 * s, 85 - 45 * s);
	}

	draw() {
		if (!this.width)
			return;
		const g = this.canvas.getContext('2d'), { cellWidth: cw, left } = this;
		const marked = this.selected(), gap = cw >= 5 ? 0.75 : 0;
		g.setTransform(1, 0, 0, 1, 0, 0);
		g.clearRect(0, 0, this.canvas.width, this.canvas.height);
		g.drawImage(this.cellPicture(gap), 0, 0);
		g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		if (marked)
			this.drawRest(g, marked);
		this.drawAxes(g);
		if (marked && marked[1] > marked[0])
			this.drawRange(g, marked);
		const on = document.activeElement === this.canvas ? this.cursor : -1;
		for (const cell of [this.hover, on]) {
			if (cell < 0)
				continue;
			g.strokeStyle = this.format.accent;
			g.lineWidth = 1.5;
			const x = left + Math.floor(cell / this.rows) * cw, row = cell % this.rows;
			g.strokeRect(x, this.top(row), cw - gap, this.top(row + 1) - this.top(row));
		}
		this.tell(marked);
		for (const follow of this.followers)
			follow(false);
	}

	// Returns a canvas with all cells, which is drawn once for a window: a pointer moves more often.
	cellPicture(gap) {
		const { canvas, cellWidth: cw, cellHeight: ch, rows, left } = this, colours = new Map();
		const key = [...this.window, this.group, canvas.width, canvas.height, this.format.dark].join();
		if (this.pictureKey === key)
			return this.picture;
		this.pictureKey = key;
		this.picture = document.createElement('canvas');
		this.picture.width = canvas.width;
		this.picture.height = canvas.height;
		const g = this.picture.getContext('2d');
		g.scale(this.ratio, this.ratio);
		for (let i = 0; i < this.cells; i++) {
			const step = this.lit[i] > 0 ? Math.ceil(this.lit[i] / this.most * 255)
				: this.weight[i] > 0 ? -1 : 0;
			if (!colours.has(step))
				colours.set(step, []);
			colours.get(step).push(i);
		}
		// A single row has room for bars, in front of empty cells.
		const bars = rows === 1 && this.highest > 0;
		for (let i = 0; bars && i < this.cells; i++) {
			const high = this.weight[i] / this.highest * this.top(1);
			g.fillStyle = this.colour(0);
			g.fillRect(left + i * cw, 0, cw - gap, this.top(1) - high);
			g.fillStyle = this.grey();
			g.fillRect(left + i * cw, this.top(1) - high, cw - gap, high);
		}
		for (const [step, cells] of colours) {
			g.fillStyle = step < 0 ? this.grey() : this.colour(step / 255);
			for (const i of cells) {
				const x = left + Math.floor(i / rows) * cw, y = this.top(i % rows);
				const high = this.top(i % rows + 1) - y - (ch > 3 ? gap : 0);
				const bar = bars ? this.lit[i] / this.highest * high : high;
				g.fillRect(x, y + high - bar, cw - gap, bar);
			}
		}
		return this.picture;
	}

	// Fades the cells outside of the range.
	drawRest(g, [from, to]) {
		const { cellWidth: cw, left, rows, columns } = this;
		const x = (column) => left + column * cw, full = this.top(rows);
		const first = Math.floor(from / rows), last = Math.floor(to / rows);
		g.fillStyle = this.format.dark ? '#14171ba0' : '#ffffffa0';
		g.fillRect(left, 0, first * cw, full);
		g.fillRect(x(first), 0, cw, this.top(from % rows));
		if (last < columns) {
			g.fillRect(x(last), this.top(to % rows), cw, full - this.top(to % rows));
			g.fillRect(x(last + 1), 0, (columns - last - 1) * cw, full);
		}
	}

	// The edge of the range goes down the first column and up the last.
	drawRange(g, [from, to]) {
		const { cellWidth: cw, left, rows } = this;
		const column = (i) => left + Math.floor(i / rows) * cw, y = (i) => this.top(i % rows);
		const last = to - 1, end = this.top(last % rows + 1), full = this.top(rows);
		g.strokeStyle = this.format.accent;
		g.lineWidth = 1.5;
		g.beginPath();
		if (column(from) === column(last)) {
			g.rect(column(from), y(from), cw, end - y(from));
		} else {
			g.moveTo(column(from), full);
			for (const [px, py] of [[column(from), y(from)], [column(from) + cw, y(from)],
				[column(from) + cw, 0],
				[column(last) + cw, 0], [column(last) + cw, end], [column(last), end],
					[column(last), full]])
				g.lineTo(px, py);
			g.closePath();
		}
		g.stroke();
	}

	drawAxes(g) {
		const { cellWidth: cw, left, rows, group, t } = this, bottom = this.top(rows);
		const cellNs = group * t.sliceNs, columnNs = rows * cellNs;
		g.font = `10.5px ${FONT}`;
		g.fillStyle = this.format.dim;
		g.textBaseline = 'middle';
		g.textAlign = 'right';
		for (let row = 0, step = Math.ceil(rows / 5); rows > 1 && row < rows; row += step)
			g.fillText(row ? `+${sayLength(row * cellNs)}` : '+0', left - 6, this.top(row) + 6);
		g.textAlign = 'left';
		const every = Math.max(1, Math.ceil(64 / cw));
		const second = LENGTHS.map((s) => Math.round(s * 1e9 / columnNs)).find((n) => n >= every) ||
			every;
		for (let i = 0; i < this.columns; i += second) {
			const slice = this.window[0] + i * rows * group;
			const words = [this.clock.seconds(slice, columnNs), this.clock.clock(slice, columnNs)];
			const wide = Math.max(...words.map((text) => g.measureText(text).width));
			words.forEach((text, line) => {
				if (left + i * cw + wide <= this.outer)
					g.fillText(text, left + i * cw, bottom + 9 + 13 * line);
			});
		}
		// Marks the start of another capture; the time between captures is unknown.
		for (const begin of t.runs)
			if (begin >= this.window[0] && begin < this.window[1])
				g.fillRect(left + Math.floor((begin - this.window[0]) / group / rows) * cw - 1.5, 0, 1.5, bottom + 4);
	}

	tell(marked) {
		const open = this.anchor >= 0, { t } = this;
		const range = open ? marked.map((cell) => this.sliceOf(cell)) : this.range;
		const lines = [this.words(range) + (range ? `\n${this.sayPart(...this.sumOf(range))}` : '')];
		// At most four lines, for which the page has room.
		if (open && this.pressed === undefined)
			lines.push('and to where?');
		else if (this.hover >= 0 && range)
			lines.push(this.wordsOf(this.hover, this.clock.seconds(this.sliceOf(this.hover))));
		else if (this.hover >= 0)
			lines.push(this.wordsOf(this.hover));
		document.getElementById('heatrange').textContent = lines.join('\n');
		document.getElementById('heatnote').textContent = range ? this.ledgerWords(range) ||
			'The ledger below covers all time.' : '';
		const slices = this.window[1] - this.window[0];
		const length = slices < t.slices ? `${sayLength(slices * t.sliceNs)} in ` : '';
		this.level.textContent = `${length}cells of ${sayLength(this.group * t.sliceNs)}`;
		const ramp = [0, 0.05, 0.25, 0.5, 0.75, 1].map((s) => this.colour(s)).join(',');
		this.legend.style.setProperty('--ramp', `linear-gradient(90deg, ${ramp})`);
		this.legend.dataset.most = this.sayWeight(this.most);
		this.legend.dataset.of = this.counts ? 'matched' : 'in a cell';
		this.legend.title = `Colours: from 0 to ${this.sayWeight(this.most)} in a cell${
			this.counts ? ', of those that are searched, filtered or selected; others are grey' : ''}`;
		this.legend.setAttribute('aria-label', this.legend.title);
	}

	// Returns the highlighted weight and all of it. Remembers the last sum, because draw() asks for it with each move of the pointer.
	sumOf(range) {
		const key = range.join();
		if (key !== this.summed) {
			this.summed = key;
			let lit = 0, sum = 0;
			visitRange(this.t, range[0], Math.min(range[1], this.t.slices), (node, who, weight) => {
				sum += weight;
				lit += !this.counts || this.counts(node, who) ? weight : 0;
			});
			this.sum = [lit, sum];
		}
		return this.sum;
	}
}

// Turns pointers on a canvas into selections, pans and zooms of its owner, which has point, press, release,
// cancel, placeOf, slicesOfPixel, panBy and zoomBy. A mouse drags a range. A finger pans; after a long touch it
// drags a range; two fingers zoom.
class TimeGestures {
	constructor(canvas, owner) {
		Object.assign(this, { canvas, owner, fingers: new Map(), mode: '' });
		const on = (name, act, options) => canvas.addEventListener(name, act, options);
		on('pointerdown', (e) => this.down(e));
		on('pointermove', (e) => this.move(e));
		on('pointerup', (e) => this.up(e));
		on('pointercancel', (e) => this.up(e, true));
		on('pointerleave', () => this.mode || owner.point(-1));
		on('touchmove', (e) => this.mode === 'select' && e.cancelable && e.preventDefault(),
			{ passive: false });
		on('contextmenu', (e) => this.mode && e.preventDefault());
		on('wheel', (e) => this.wheel(e), { passive: false });
	}

	down(e) {
		if (e.button !== 0 || isEmptyMap(this.owner))
			return;
		this.canvas.setPointerCapture(e.pointerId);
		this.fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		this.first = this.owner.placeOf(e);
		this.at = this.started = { x: e.clientX, y: e.clientY };
		clearTimeout(this.timer);
		if (this.fingers.size === 2) {
			this.stop();
			this.mode = 'pinch';
			this.spread = this.distance();
		} else if (e.pointerType === 'touch') {
			this.mode = 'touch';
			this.timer = setTimeout(() => this.select(), 350);
		} else {
			this.select();
		}
	}

	select() {
		this.mode = 'select';
		this.owner.press(this.first);
	}

	distance() {
		const [a, b] = [...this.fingers.values()];
		return Math.max(10, Math.abs(a.x - b.x), Math.abs(a.y - b.y));
	}

	move(e) {
		if (this.fingers.has(e.pointerId))
			this.fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		if (this.mode === 'pinch') {
			const spread = this.distance();
			if (spread / this.spread > 1.25 || spread / this.spread < 0.8) {
				this.owner.zoomBy(this.spread / spread);
				this.spread = spread;
			}
			return;
		}
		if (this.mode === 'touch' && Math.abs(e.clientX - this.started.x) > 8) {
			clearTimeout(this.timer);
			this.mode = 'pan';
		}
		if (this.mode === 'pan') {
			const moved = Math.round((this.at.x - e.clientX) * this.owner.slicesOfPixel());
			if (moved) {
				this.owner.panBy(moved);
				this.at = { x: e.clientX, y: e.clientY };
			}
		} else if (this.mode !== 'touch' && !isEmptyMap(this.owner)) {
			this.owner.point(this.owner.placeOf(e));
		}
	}

	up(e, cancelled) {
		const { mode } = this, place = isEmptyMap(this.owner) ? -1 : this.owner.placeOf(e);
		clearTimeout(this.timer);
		this.fingers.delete(e.pointerId);
		this.mode = '';
		if (cancelled && mode === 'select') {
			this.owner.cancel();
		} else if (mode === 'touch' && !cancelled) {
			this.owner.press(place); // a short touch is a click
			this.owner.release(place, false);
		} else if (mode === 'select') {
			this.owner.release(place, place !== this.first);
		}
	}

	stop() {
		if (this.mode === 'select')
			this.owner.cancel();
	}

	// Zooms at the pointer; sideways, or with Shift, it pans.
	wheel(e) {
		const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey;
		if (isEmptyMap(this.owner) ||
			(!sideways && !(e.ctrlKey || e.metaKey || this.owner.wheelZooms)))
			return;
		e.preventDefault();
		if (sideways)
			this.owner.panBy(Math.round((e.deltaX || e.deltaY) * this.owner.slicesOfPixel()));
		else
			this.owner.zoomBy(e.deltaY > 0 ? 1.25 : 0.8, this.owner.sliceUnder(e));
	}
}

const isEmptyMap = (owner) => owner.cells === 0;
