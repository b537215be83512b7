// The sources of functions (cprof-flame --source): a panel with the lines of the focused function. The block
// is that of common/annotate/source_block.h. A page without sources has neither the panel nor its button.

const SOURCE_STYLE = `
#source { flex: 0 0 auto; height: min(42vh, 420px); display: flex; flex-direction: column; min-height: 0;
	border-top: 1px solid var(--line); background: var(--panel); }
#sourcetop { display: flex; gap: 10px; align-items: center; padding: 5px 12px; }
#sourcetop select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
	border-radius: 6px; padding: 2px 4px; flex: 1; min-width: 0; }
#sourcetop button { border: 1px solid var(--line); border-radius: 6px; background: var(--back);
	padding: 1px 9px; cursor: pointer; }
#sourcebody { overflow: auto; flex: 1; padding: 0 12px 8px; }
#sourcebody h3 { font-size: 13px; margin: 8px 0 0; overflow-wrap: anywhere; }
#sourcebody p { color: var(--dim); overflow-wrap: anywhere; }
#sourcebody table { border-collapse: collapse; margin: 4px 0; min-width: 100%;
	font: 12px/1.45 ui-monospace, monospace; }
#sourcebody th { text-align: left; color: var(--dim); font-weight: 600; padding-right: 12px;
	position: sticky; top: 0; background: var(--panel); }
#sourcebody th:last-child { width: 100%; }
#sourcebody th:not(:last-child) { text-align: right; }
#sourcebody td { white-space: pre; padding: 0 12px 0 0; }
#sourcebody td.n { text-align: right; font-variant-numeric: tabular-nums; }
#sourcebody td.l { text-align: right; color: var(--dim); }
#sourcebody tr.hot td.l, #sourcebody tr.warm td.l { color: inherit; }
#sourcebody tr.warm td { background: #f2b13426; }
#sourcebody tr.hot td { background: #e0533a33; }
@media (pointer: coarse) { #sourcetop button, #sourcetop select { min-height: 44px; } }
@media (forced-colors: active) { #sourcebody tr.hot td { font-weight: bold; } }
`;

function readSources(bytes) {
	const r = new Reader(bytes), sum = r.number(), functions = [];
	for (let n = r.count(); n > 0; n--) {
		const f = { name: r.text(), module: r.text(), self: r.number(), total: r.number() };
		f.files = [];
		for (let files = r.count(); files > 0; files--) {
			const file = { path: r.text(), note: r.text(), rows: [] };
			for (let rows = r.count(); rows > 0; rows--) {
				const line = r.number(), flags = r.number(), weighs = !!(flags & 1);
				const self = weighs ? r.number() : 0, total = weighs ? r.number() : 0;
				const gap = !!(flags & 2), text = r.text();
				file.rows.push({ line, gap, weighs, self, total, text });
			}
			f.files.push(file);
		}
		functions.push(f);
	}
	return { sum, functions };
}

class SourcePanel {
	constructor(app, sources) {
		this.app = app;
		this.sum = sources.sum;
		this.functions = sources.functions;
		this.byName = new Map();
		for (const [i, f] of this.functions.entries())
			this.byName.set(f.name, [...(this.byName.get(f.name) || []), i]);
		this.name = null;
		this.build();
		this.listen();
	}

	build() {
		const style = make('style', '', SOURCE_STYLE);
		const panel = this.panel = make('section', '');
		panel.id = 'source';
		panel.hidden = true;
		panel.setAttribute('aria-label', 'Source lines');
		this.choice = make('select', '');
		this.choice.setAttribute('aria-label', 'Function');
		for (const [i, f] of this.functions.entries()) {
			const text = `${this.part(f.self)}  ${shown(f.name)}  ${shown(f.module)}`;
			const option = make('option', '', text);
			option.value = i;
			this.choice.append(option);
		}
		this.close = make('button', '', 'Close');
		this.close.type = 'button';
		this.body = make('div', '');
		this.body.id = 'sourcebody';
		this.body.tabIndex = 0;
		const top = make('div', '', make('b', '', 'Lines'), this.choice, this.close);
		top.id = 'sourcetop';
		panel.append(top, this.body);
		this.button = make('button', '', 'Lines');
		this.button.type = 'button';
		this.button.id = 'sourcebutton';
		this.button.title = 'Source lines of the focused function (l)';
		document.head.append(style);
		document.querySelector('main').after(panel);
		document.querySelector('[data-act=table]').before(this.button);
		const what = make('span', '', 'source lines of the focused function');
		el('help').append(make('kbd', '', 'l'), what);
		this.show(false);
	}

	listen() {
		this.button.addEventListener('click', () => this.show(this.panel.hidden));
		this.close.addEventListener('click', () => { this.show(false); el('graph').focus(); });
		this.choice.addEventListener('change', () => this.render([Number(this.choice.value)]));
		this.panel.addEventListener('keydown', (e) => {
			if (e.key === 'Escape')
				this.close.click();
			e.stopPropagation(); // the picture's keys
		});
		document.addEventListener('keydown', (e) => {
			if (e.key === 'l' && !e.ctrlKey && !e.metaKey && !e.altKey && !el('help').open &&
				!e.target.closest('input, textarea, select'))
				this.show(this.panel.hidden);
		});
		// The page calls this after each change of the focus.
		const { app } = this, before = app.showDetails;
		app.showDetails = () => { before.call(app); this.follow(); };
	}

	part(weight) {
		return this.sum > 0 ? sayPercent(weight / this.sum) : '';
	}

	show(open) {
		this.panel.hidden = !open;
		this.button.setAttribute('aria-pressed', String(open));
		this.name = null;
		if (open) {
			this.follow();
			this.panel.scrollIntoView({ block: 'nearest' });
		}
	}

	// Returns the name of the focused function, without the place that cprof-flame -l adds.
	current() {
		const { app } = this;
		const zoomed = app.zoomed.down && app.zoomed.down.parent ? app.zoomed.down : null;
		if (app.view === 'sandwich' && app.of !== this.of) {
			this.of = app.of; // chosen in the table: newer than any focus
			return this.nameOf(app.of);
		}
		this.of = app.view === 'sandwich' ? app.of : -1;
		const box = app.focus || zoomed;
		return this.nameOf(box ? box.label : this.of);
	}

	nameOf(label) {
		const { app } = this;
		return label < 0 ? '' : app.p.name(label).replace(/ \([^()]*:\d+\)$/, '');
	}

	follow() {
		if (this.panel.hidden)
			return;
		const name = this.current();
		if (name === this.name)
			return;
		this.name = name;
		const found = name === '' ? (this.functions.length ? [0] : []) : this.byName.get(name) || [];
		this.choice.selectedIndex = found.length ? found[0] : -1;
		this.render(found);
	}

	render(list) {
		const parts = list.flatMap((i) => this.partsOf(this.functions[i]));
		if (!parts.length)
			parts.push(make('p', '', `${shown((this.name || 'all').slice(0, 300))}: no lines`));
		this.body.replaceChildren(...parts);
		this.body.scrollTop = 0;
		this.body.scrollLeft = 0;
		const hot = this.body.querySelector('tr.hot'), top = (e) => e.getBoundingClientRect().top;
		if (hot) // without the page, which would leave the picture
			this.body.scrollTop = top(hot) - top(this.body) - this.body.clientHeight / 2;
	}

	partsOf(f) {
		const head = make('h3', '', shown(f.name), f.module ? ` in ${shown(f.module)}` : '');
		const text = `self ${this.part(f.self)}, with callees ${this.part(f.total)} of all samples; `;
		const sums = make('p', '', `${text}functions inlined into it count for themselves`);
		const parts = [head, sums];
		for (const file of f.files) {
			parts.push(make('p', '', shown(file.path) || 'code without lines'));
			if (file.note)
				parts.push(make('p', 'note', shown(file.note)));
			parts.push(this.tableOf(file));
		}
		return parts;
	}

	tableOf(file) {
		const table = make('table', '');
		const most = file.rows.reduce((m, row) => Math.max(m, row.total), 0);
		const add = (heat, own, all, line, text) => table.append(make('tr', heat,
			make('td', 'n', own), make('td', 'n', all),
			make('td', 'l', line), make('td', '', text)));
		const heads = ['self', 'callees', 'line', ''].map((text) => make('th', '', text));
		table.append(make('tr', '', ...heads));
		for (const row of file.rows) {
			const { total } = row;
			const warm = total * 10 >= most ? 'warm' : '';
			const heat = !total ? '' : total * 2 >= most ? 'hot' : warm;
			if (row.gap)
				add('', '', '', '…', '');
			add(heat, row.self ? this.part(row.self) : '', row.weighs ? this.part(total) : '',
				row.line || '–', shown(row.text));
		}
		return table;
	}
}

// Opens the block of sources, if the page has one.
async function openSources(app) {
	const block = el('sources'), text = block ? block.textContent.trim() : '';
	if (block)
		block.remove();
	if (text)
		app.sources = new SourcePanel(app, readSources(await inflate(fromBase64(text))));
}
