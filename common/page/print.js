// Printing: paper has no window to scroll, so the whole picture and the heaviest functions are drawn for it.

const PAPER_WIDTH = 1000, PAPER_ROWS = 36, PAPER_FUNCTIONS = 40;

class Paper {
	constructor(app) {
		this.app = app;
		this.box = el('paper');
		window.addEventListener('beforeprint', () => this.fill());
		window.addEventListener('afterprint', () => this.clear());
	}

	// Paper is white, whatever the window is.
	fill() {
		this.app.printing = true;
		this.app.setPalette();
		this.box.replaceChildren(...this.pictures(), ...this.functions());
		this.box.hidden = false;
	}

	clear() {
		this.app.printing = false;
		this.box.hidden = true;
		this.box.replaceChildren();
		this.app.setPalette();
		this.app.layout();
	}

	// A page break cuts through a canvas that is too high, so there are several.
	pictures() {
		const { app } = this, { rowHeight: row, fontSize } = app.picture, list = [];
		const picture = new Picture(row, fontSize), step = PAPER_ROWS * row, look = app.look();
		app.lay(picture, PAPER_WIDTH);
		for (let top = 0; top < picture.height; top += step) {
			const canvas = document.createElement('canvas'), height = Math.min(step, picture.height - top);
			picture.draw(canvas, PAPER_WIDTH, height, top, look, 2);
			list.push(canvas);
		}
		return list;
	}

	functions() {
		const { table } = this.app, n = Math.min(table.rows.length, PAPER_FUNCTIONS);
		if (n === 0)
			return [];
		const words = `${sayCount(n)} of ${sayCount(table.rows.length)} functions`, box = make('div', '');
		box.style.setProperty('--all-columns', el('table').style.getPropertyValue('--all-columns'));
		for (let i = 0; i < n; i++)
			box.append(table.row(i));
		const kind = (i) => (i === 0 ? 'name' : table.columns[i - 1].text ? 'module' : '');
		const title = (text, i) => make('span', kind(i), text);
		box.prepend(make('div', 'row', ...table.titles().map(title)));
		return [make('p', 'wordy', words), box];
	}
}
