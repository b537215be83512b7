// The table of all functions, sorted. Only the visible rows are in the document.

const COARSE = window.matchMedia('(pointer: coarse)');
const rowHeight = () => (COARSE.matches ? 44 : 24); // as in page.css

class Table {
	// events: { pick(label), search(label) }; format: see page.js
	constructor(profile, events, format) {
		this.p = profile;
		this.events = events;
		this.format = format;
		this.sort = { key: 'self', down: true };
		this.filter = null;
		this.matches = null; // by label: whether the search finds it
		this.order = null; // all rows, sorted
		this.judged = true; // verdicts hold for the weights
		this.rows = [];
		this.at = -1;
		this.chosen = -1;
		this.stale = false; // rows or marks changed since the last paint()
		this.head = document.getElementById('thead');
		this.body = document.getElementById('tbody');
		this.long = document.getElementById('tlong');
		this.columns = profile.sides === 1 ? this.oneSide() : this.twoSides();
		if (profile.modules)
			this.columns.unshift(this.moduleColumn());
		this.makeHead();
		this.body.addEventListener('scroll', () => this.paint());
		this.body.addEventListener('keydown', (e) => this.key(e));
		this.body.addEventListener('focus', () => this.enter());
		this.long.addEventListener('click', (e) => this.click(e));
		const input = document.getElementById('filter');
		input.addEventListener('input', () => this.setFilter(input.value));
	}

	moduleColumn() {
		const tip = (l) => shown(this.p.module(l)), show = (l) => lastPart(tip(l));
		return { key: 'module', title: 'Module', text: true, show, tip, minor: true };
	}

	oneSide() {
		const bar = (of) => (l) => this.share(of(0), l, 0), part = (of) => (l) => this.format.percent(bar(of)(l));
		const self = (s) => this.w.labelSelf[s], total = (s) => this.w.labelTotal[s];
		return [
			{ key: 'self', title: 'Self', by: (l) => self(0)[l], show: (l) => this.format.weight(self(0)[l]), minor: true },
			{ key: 'selfshare', title: 'Self %', by: (l) => self(0)[l], show: part(self), bar: bar(self) },
			{ key: 'total', title: 'Total', by: (l) => total(0)[l], show: (l) => this.format.weight(total(0)[l]), minor: true },
			{ key: 'totalshare', title: 'Total %', by: (l) => total(0)[l], show: part(total), bar: bar(total) },
		];
	}

	twoSides() {
		const columns = [];
		for (const [key, title, of, verdict] of [['self', 'Self', (s) => this.w.labelSelf[s], this.p.selfVerdict],
			['total', 'Total', (s) => this.w.labelTotal[s], this.p.totalVerdict]]) {
			const change = (l) => this.share(of(1), l, 1) - this.share(of(0), l, 0);
			for (const side of [0, 1])
				columns.push({ key: key + side, title: `${title} ${side ? 'after' : 'before'}`, by: (l) => of(side)[l], minor: true,
					show: (l) => this.format.percent(this.share(of(side), l, side)),
					tip: (l) => this.format.weight(of(side)[l]) });
			columns.push({ key: `${key}change`, title: `Δ ${title.toLowerCase()}`, by: (l) => Math.abs(change(l)), change, verdict,
				show: (l) => this.format.points(change(l)) });
		}
		this.sort.key = 'totalchange';
		return columns;
	}

	share(of, label, side) {
		return this.w.sum[side] > 0 ? of[label] / this.w.sum[side] : 0;
	}

	makeHead() {
		const add = (key, title, className) => {
			const [cell, button] = ['span', 'button'].map((tag) => document.createElement(tag));
			button.type = 'button';
			button.dataset.key = key;
			button.textContent = title;
			button.addEventListener('click', () => this.sortBy(key));
			cell.setAttribute('role', 'columnheader');
			cell.className = className;
			cell.append(button);
			this.head.append(cell);
		};
		add('name', 'Function', 'name');
		for (const c of this.columns)
			add(c.key, c.title, this.classOf(c, c.bar || c.change));
	}

	classOf(c, share) {
		return `${c.text ? 'module' : share ? 'share' : 'number'}${c.minor ? ' minor' : ''}`;
	}

	titles() {
		return ['Function', ...this.columns.map((c) => c.title)];
	}

	// Columns of numbers are as wide as the largest number, and names get the rest. A narrow table omits
	// the minor columns.
	setColumns() {
		// A part of a time may need more digits than the whole: "108 s" and "999.99 ms".
		const least = this.p.unit === 'ns' ? '999.99 ms'.length : 0;
		const digits = Math.max(least, this.format.weight(this.w.sum[0]).length);
		const wide = Math.max(4.3, 0.58 * digits + 0.9);
		const number = (c) => (this.p.sides === 2 ? '4.7em' : c.minor ? `${wide}em` : '5.1em');
		const width = (c) => (c.text ? 'minmax(4em, 0.4fr)' : number(c));
		const list = (columns) => ['minmax(5em, 1fr)', ...columns.map(width)].join(' ');
		const { style } = document.getElementById('table');
		style.setProperty('--all-columns', list(this.columns));
		style.setProperty('--few-columns', list(this.columns.filter((c) => !c.minor)));
	}

	sortBy(key) {
		const text = key === 'name' || key === 'module';
		this.sort = { key, down: this.sort.key === key ? !this.sort.down : !text };
		this.order = null;
		this.refresh();
		this.paint();
	}

	setFilter(text) {
		this.filter = null;
		const input = document.getElementById('filter');
		input.classList.remove('wrong');
		try {
			this.filter = text ? regexOf(text) : null;
		} catch (e) {
			input.classList.add('wrong');
		}
		this.toTop = true;
		this.refresh();
		this.paint();
	}

	setMatches(matches) {
		this.matches = matches;
		this.toTop = true;
		if (this.w)
			this.refresh();
	}

	setWeights(w, judged) {
		const first = !this.w;
		this.w = w;
		this.order = null;
		this.judged = judged;
		if (first)
			this.setColumns();
		this.refresh();
	}

	// Returns the functions with weight, sorted.
	sorted() {
		const { p, w } = this, rows = [];
		for (let l = 0; l < p.labels; l++)
			if (w.labelTotal[0][l] > 0 || (p.sides === 2 && w.labelTotal[1][l] > 0))
				rows.push(l);
		const sign = this.sort.down ? -1 : 1;
		const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
		if (this.sort.key === 'name') {
			rows.sort((a, b) => sign * (order(p.name(a), p.name(b)) || a - b));
		} else if (this.sort.key === 'module') {
			rows.sort((a, b) => sign * order(p.module(a), p.module(b)) || a - b);
		} else {
			const { by } = this.columns.find((c) => c.key === this.sort.key);
			const values = new Float64Array(p.labels);
			for (const l of rows)
				values[l] = by(l);
			rows.sort((a, b) => sign * (values[a] - values[b]) || a - b); // labels come by name
		}
		return rows;
	}

	// Lists the functions that match the filter and the search. They are in the document after paint().
	refresh() {
		const { p, filter, matches } = this;
		this.order ??= this.sorted();
		const passes = (l) => filter.test(p.name(l)) || (p.modules && filter.test(p.module(l)));
		const wanted = (l) => (!matches || matches[l]) && (!filter || passes(l));
		const rows = this.rows = this.order.filter(wanted);
		this.at = Math.min(this.at, rows.length - 1);
		for (const cell of this.head.children) {
			const mine = cell.firstChild.dataset.key === this.sort.key;
			cell.setAttribute('aria-sort', !mine ? 'none' : this.sort.down ? 'descending' : 'ascending');
		}
		const { order, format: { count } } = this;
		const all = rows.length < order.length ? ` of ${count(order.length)}` : '';
		const things = order.length === 1 ? 'function' : 'functions';
		document.getElementById('rowcount').textContent = `${count(rows.length)}${all} ${things}`;
		document.getElementById('table').setAttribute('aria-rowcount', String(rows.length + 1));
		this.long.style.height = `${Math.min(rows.length * rowHeight(), 3e7)}px`;
		this.stale = true;
	}

	choose(label) {
		this.stale ||= label !== this.chosen;
		this.chosen = label;
	}

	// Paints once after any number of changes: each paint makes the browser lay out the document.
	paintChanges() {
		if (this.stale)
			this.paint();
	}

	paint() {
		this.stale = false;
		if (this.toTop)
			this.body.scrollTop = 0;
		this.toTop = false;
		const { scrollTop: top, clientHeight: height } = this.body, row = rowHeight();
		const first = Math.max(0, Math.floor(top / row) - 4);
		const last = Math.min(this.rows.length, first + Math.ceil(height / row) + 10);
		const list = [];
		for (let i = first; i < last; i++)
			list.push(this.row(i));
		this.long.replaceChildren(...list);
	}

	// Runs before the click when a pointer is pressed. The rows must stay in the document, otherwise
	// there is no click.
	enter() {
		this.at = Math.max(0, this.at);
		for (const row of this.long.children)
			row.classList.toggle('at', Number(row.dataset.row) === this.at);
	}

	row(i) {
		const label = this.rows[i], row = document.createElement('div');
		row.className = 'row';
		row.setAttribute('role', 'row');
		row.setAttribute('aria-rowindex', String(i + 2));
		row.dataset.row = String(i);
		row.style.top = `${i * rowHeight()}px`;
		row.classList.toggle('at', i === this.at);
		row.classList.toggle('chosen', label === this.chosen);
		row.append(this.nameCell(label));
		for (const c of this.columns) {
			const cell = document.createElement('span');
			cell.setAttribute('role', 'cell');
			cell.className = this.classOf(c, c.bar);
			cell.textContent = c.show(label);
			if (c.bar)
				cell.style.setProperty('--share', String(c.bar(label)));
			if (c.tip)
				cell.title = c.tip(label);
			if (c.change)
				cell.classList.add('change', this.direction(c, label));
			row.append(cell);
		}
		return row;
	}

	direction(c, label) {
		if (!this.judged || c.verdict[label] === 0)
			return 'none';
		return c.change(label) > 0 ? 'more' : 'less';
	}

	nameCell(label) {
		const [cell, mark, text] = ['span', 'i', 'span'].map((tag) => document.createElement(tag));
		cell.setAttribute('role', 'cell');
		cell.className = 'name';
		mark.style.background = this.format.colour(label);
		text.textContent = shown(this.p.name(label).slice(0, 400));
		cell.title = shown(fullName(this.p, label).slice(0, 2000));
		cell.append(mark, text);
		if (this.p.clash(label)) // where the column of modules has no room
			cell.append(make('em', '', shown(moduleMark(this.p, label))));
		return cell;
	}

	click(e) {
		const row = e.target.closest('.row');
		if (!row)
			return;
		this.at = Number(row.dataset.row);
		const label = this.rows[this.at];
		if (e.shiftKey || e.ctrlKey || e.metaKey)
			this.events.search(label);
		else
			this.events.pick(label);
	}

	key(e) {
		const page = Math.max(1, Math.floor(this.body.clientHeight / rowHeight()) - 1);
		const all = Infinity;
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all }[e.key];
		if (e.ctrlKey || e.metaKey || e.altKey || this.rows.length === 0)
			return;
		if (step !== undefined) {
			this.at = Math.min(this.rows.length - 1, Math.max(0, this.at + step));
			const { scrollTop: top, clientHeight: height } = this.body, y = this.at * rowHeight();
			this.body.scrollTop = Math.max(y + rowHeight() - height, Math.min(top, y));
			this.paint();
			this.format.say(fullName(this.p, this.rows[this.at]));
		} else if (e.key === 'Enter' && this.at >= 0) {
			this.events.pick(this.rows[this.at]);
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	}
}
