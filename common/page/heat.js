// The heat map: columns are seconds, rows are parts of a second; time runs down and then to the right. A
// range of cells is selected by dragging, by two clicks, or by the keyboard.

const HEAT_ROWS = 50;

class HeatMap {
	// changed(range): [from, to) in slices, or null for all time
	constructor(times, format, changed) {
		this.t = times;
		this.format = format;
		this.changed = changed;
		this.range = null;
		this.anchor = -1; // first cell of an unfinished selection
		this.cursor = -1;
		this.hover = -1;
		this.canvas = document.getElementById('heatmap');
		this.fold();
		this.canvas.addEventListener('pointerdown', (e) => this.down(e));
		this.canvas.addEventListener('pointermove', (e) => this.move(e));
		this.canvas.addEventListener('pointerup', (e) => this.up(e));
		this.canvas.addEventListener('pointerleave', () => { this.hover = -1; this.draw(); });
		this.canvas.addEventListener('keydown', (e) => this.key(e));
		this.canvas.addEventListener('blur', () => this.draw());
	}

	// Groups slices into cells: at most HEAT_ROWS in a second, each of whole slices.
	fold() {
		const { t } = this;
		const perSecond = Math.max(1, Math.round(1e9 / t.sliceNs));
		this.group = Math.max(1, Math.ceil(perSecond / HEAT_ROWS));
		this.rows = Math.max(1, Math.ceil(perSecond / this.group));
		this.cells = Math.ceil(t.slices / this.group);
		this.columns = Math.max(1, Math.ceil(this.cells / this.rows));
		this.weight = weightOfCells(t, 0, this.cells, this.group);
		this.most = this.weight.reduce((a, b) => Math.max(a, b), 0);
	}

	moment(slice) {
		const length = this.t.sliceNs / 1e9;
		const digits = length < 1 ? Math.min(3, Math.max(2, Math.ceil(-Math.log10(length)))) : 0;
		return `${(slice * length).toFixed(digits)} s`;
	}

	wordsOf(cell) {
		const { runs } = this.t, slice = cell * this.group;
		const run = runs.length ? ` (capture ${runs.filter((begin) => begin <= slice).length + 1})` : '';
		return `${this.moment(slice)}: ${this.format.weight(this.weight[cell])}${run}`;
	}

	words(range) {
		return range ? `${this.moment(range[0])} – ${this.moment(Math.min(range[1], this.t.slices))}` : 'all time';
	}

	setRange(range) {
		this.range = range && range[1] > range[0] ? [Math.max(0, range[0]), Math.min(range[1], this.t.slices)] : null;
		if (this.range && this.range[0] >= this.range[1])
			this.range = null;
		this.anchor = -1;
		this.draw();
	}

	cellAt(e) {
		const r = this.canvas.getBoundingClientRect();
		const within = (n, of) => Math.min(of - 1, Math.max(0, Math.floor(n)));
		const column = within((e.clientX - r.left - this.left) / this.cellWidth, this.columns);
		const row = within((e.clientY - r.top) / this.cellHeight, this.rows);
		return Math.min(this.cells - 1, column * this.rows + row);
	}

	// A drag selects a range at once. A click begins one, and the next click ends it.
	down(e) {
		if (e.button !== 0 || this.cells === 0)
			return;
		this.canvas.focus({ preventScroll: true });
		this.canvas.setPointerCapture(e.pointerId);
		const cell = this.cellAt(e);
		this.cursor = cell;
		this.second = this.anchor >= 0;
		if (!this.second)
			this.anchor = cell;
		this.pressed = cell;
		this.hover = cell;
		this.draw();
	}

	move(e) {
		if (this.cells === 0)
			return;
		this.hover = this.cellAt(e);
		this.draw();
	}

	up(e) {
		if (this.anchor < 0 || this.pressed === undefined)
			return;
		const cell = this.cellAt(e);
		const dragged = cell !== this.pressed;
		if (dragged && this.second)
			this.anchor = this.pressed;
		this.pressed = undefined;
		this.cursor = cell;
		if (dragged || this.second)
			this.finish(cell);
		else
			this.draw();
	}

	finish(cell) {
		const from = Math.min(this.anchor, cell), to = Math.max(this.anchor, cell) + 1;
		this.setRange([from * this.group, to * this.group]);
		this.changed(this.range);
	}

	key(e) {
		const { rows } = this, all = Infinity;
		const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -rows, ArrowRight: rows, Home: -all, End: all }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey || this.cells === 0)
			return;
		if (step !== undefined) {
			const next = Math.max(0, this.cursor) + (this.cursor < 0 ? 0 : step);
			this.cursor = Math.min(this.cells - 1, Math.max(0, next));
			this.format.say(this.wordsOf(this.cursor));
			this.draw();
		} else if ((e.key === 'Enter' || e.key === ' ') && this.cursor >= 0) {
			if (this.anchor >= 0) {
				this.finish(this.cursor);
			} else {
				this.anchor = this.cursor;
				this.format.say(`from ${this.moment(this.anchor * this.group)}`);
				this.draw();
			}
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
			const other = this.hover >= 0 ? this.hover : this.cursor;
			return [Math.min(this.anchor, other), Math.max(this.anchor, other) + 1];
		}
		return this.range ? [Math.floor(this.range[0] / this.group), Math.ceil(this.range[1] / this.group)] : null;
	}

	resize(width) {
		this.left = 46;
		const room = window.innerHeight < 600 ? 100 : 130;
		this.cellHeight = this.rows === 1 ? 24 : Math.max(2, Math.min(12, Math.floor(room / this.rows)));
		this.cellWidth = Math.min(34, Math.max(4, (width - this.left - 8) / this.columns));
		const ratio = Math.min(window.devicePixelRatio || 1, 30000 / (this.left + this.columns * this.cellWidth));
		this.width = this.left + this.columns * this.cellWidth + 1;
		this.height = this.rows * this.cellHeight + 18;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.ratio = ratio;
		this.draw();
	}

	colour(share, dim) {
		const { dark } = this.format;
		if (share === 0)
			return dark ? '#20252b' : '#eef0f2';
		const s = share ** 0.8;
		return dark ? oklch(0.26 + 0.6 * s, dim ? 0.03 : 0.05 + 0.1 * s, 280 + 150 * s)
			: oklch(0.95 - 0.42 * s, dim ? 0.02 : 0.03 + 0.13 * s, 85 - 45 * s);
	}

	draw() {
		if (!this.width)
			return;
		const g = this.canvas.getContext('2d'), { cellWidth: cw, cellHeight: ch, left } = this;
		const marked = this.selected();
		g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		g.clearRect(0, 0, this.width, this.height);
		const gap = cw >= 5 ? 0.75 : 0;
		for (let i = 0; i < this.cells; i++) {
			const dim = marked !== null && (i < marked[0] || i >= marked[1]);
			g.globalAlpha = dim ? 0.45 : 1;
			g.fillStyle = this.colour(this.most > 0 ? this.weight[i] / this.most : 0, dim);
			g.fillRect(left + Math.floor(i / this.rows) * cw, (i % this.rows) * ch, cw - gap, ch - (ch > 3 ? gap : 0));
		}
		g.globalAlpha = 1;
		this.drawAxes(g);
		if (marked)
			this.drawRange(g, marked);
		const on = document.activeElement === this.canvas ? this.cursor : -1;
		for (const cell of [this.hover, on]) {
			if (cell < 0)
				continue;
			g.strokeStyle = this.format.accent;
			g.lineWidth = 1.5;
			g.strokeRect(left + Math.floor(cell / this.rows) * cw, (cell % this.rows) * ch, cw - gap, ch);
		}
		this.tell(marked);
	}

	// The edge of the range goes down the first column and up the last.
	drawRange(g, [from, to]) {
		const { cellWidth: cw, cellHeight: ch, left, rows } = this;
		const column = (i) => left + Math.floor(i / rows) * cw, y = (i) => (i % rows) * ch;
		const last = to - 1, end = y(last) + ch, full = rows * ch;
		g.strokeStyle = this.format.accent;
		g.lineWidth = 1.5;
		g.beginPath();
		if (column(from) === column(last)) {
			g.rect(column(from), y(from), cw, end - y(from));
		} else {
			g.moveTo(column(from), full);
			for (const [px, py] of [[column(from), y(from)], [column(from) + cw, y(from)], [column(from) + cw, 0],
				[column(last) + cw, 0], [column(last) + cw, end], [column(last), end], [column(last), full]])
				g.lineTo(px, py);
			g.closePath();
		}
		g.stroke();
	}

	drawAxes(g) {
		const { cellWidth: cw, cellHeight: ch, left, rows } = this, bottom = rows * ch;
		g.font = `10.5px ${FONT}`;
		g.fillStyle = this.format.dim;
		g.textBaseline = 'middle';
		g.textAlign = 'right';
		const perRow = this.group * this.t.sliceNs / 1e6;
		if (rows > 1)
			for (let i = 0; i < 4; i++)
				g.fillText(`${Math.round(rows * i / 4 * perRow)} ms`, left - 6, rows * i / 4 * ch + 6);
		g.textAlign = 'left';
		const perColumn = this.rows * this.group * this.t.sliceNs / 1e9;
		const every = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find((n) => n * cw >= 48) || 7200;
		for (let i = 0; i < this.columns; i += every)
			g.fillText(`${Math.round(i * perColumn)} s`, left + i * cw, bottom + 10);
		// Marks the start of another capture; the time between captures is unknown.
		for (const begin of this.t.runs)
			g.fillRect(left + Math.floor(begin / this.group / rows) * cw - 1.5, 0, 1.5, bottom + 4);
	}

	tell(marked) {
		const words = marked ? this.words([marked[0] * this.group, marked[1] * this.group]) : 'all time';
		const here = this.hover >= 0 ? `\n${this.wordsOf(this.hover)}` : '';
		const asks = this.anchor >= 0 && this.pressed === undefined ? '\nand to where?' : '';
		document.getElementById('heatrange').textContent = words + asks + here;
	}
}
