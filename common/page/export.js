// Copies and downloads: names and stacks to the clipboard; folded text, SVG, PNG and CSV as files. All of them
// hold the visible part: the zoomed box of the view, with the edits, in the selected range of time.

const SUFFIXES = { 1: '_[k]', 2: '_[i]', 3: '_[j]', 4: '_[l]' };
const BY_NAME = /^(py::|~|(JS|Function|LazyCompile|Script|Eval):~|\[)/; // names that show their kind
const FILE_WIDTH = 1200, FILE_HEAD = 28, FILE_MOST = 16000; // pixels

// The name as cprof-fold -a prints it.
function foldedName(p, label) {
	const name = p.name(label), kind = p.kind[label];
	return name + (kind === 4 && BY_NAME.test(name) ? '' : SUFFIXES[kind] || '');
}

// Calls add(stack, weights) for each stack that is seen.
function eachStack(app, add) {
	const { p, q, w, view, zoomed: { down } } = app, names = new Array(p.labels);
	const text = (label) => (names[label] ??= foldedName(p, label));
	const whole = [];
	const weights = (i) => w.self.map((own) => own[i]);
	if (view === 'flame') {
		const top = down.parent ? down.items[0] : 1, paths = [''];
		const end = down.parent ? q.end[top] : q.nodes;
		for (let at = q.parent[top], inner = ''; top < end && at; at = q.parent[at]) {
			inner = text(q.label[at]) + (inner && `;${inner}`);
			paths[q.parent[top]] = inner;
		}
		for (let i = top; i < end; i++) {
			const above = paths[q.parent[i]];
			paths[i] = (above && `${above};`) + text(q.label[i]);
			if (w.self.some((own) => own[i] > 0))
				add(paths[i], weights(i));
		}
		return;
	}
	const within = view === 'sandwich' ? stacksWith(q, down) : app.seen.self;
	for (let i = 1; i < q.nodes; i++) {
		const counts = view === 'sandwich' ? within[i] && w.self.some((own) => own[i] > 0)
			: within.some((own) => own[i] > 0);
		if (!counts)
			continue;
		whole.length = 0;
		for (let at = i; at; at = q.parent[at])
			whole.push(text(q.label[at]));
		add((view === 'reverse' ? whole : whole.reverse()).join(';'), weights(i));
	}
}

// Marks the nodes at and below the items of a box.
function stacksWith(q, box) {
	const within = new Uint8Array(q.nodes);
	for (const item of box.items)
		within.fill(1, item, q.end[item]);
	return within;
}

// Returns folded text in pieces, which a file may be made from. Equal stacks are one: reversed ones, and those
// that differ only in modules.
function foldedPieces(app) {
	const pieces = [], sums = app.view === 'reverse' || app.p.clashes ? new Map() : null;
	let lines = [];
	const line = (stack, weights) => {
		lines.push(`${stack} ${weights.join(' ')}\n`);
		if (lines.length === 10000) {
			pieces.push(lines.join(''));
			lines = [];
		}
	};
	eachStack(app, (stack, weights) => {
		if (!sums) {
			line(stack, weights);
			return;
		}
		const before = sums.get(stack);
		sums.set(stack, before ? before.map((sum, side) => sum + weights[side]) : weights);
	});
	for (const [stack, weights] of sums || [])
		line(stack, weights);
	pieces.push(lines.join(''));
	return pieces;
}

// The rows of the table, as RFC 4180 has them.
function tableText(app) {
	const { p, seen, table } = app, sides = p.sides === 2 ? [' before', ' after'] : [''];
	const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
	const unit = p.unit === 'ns' ? ' (ns)' : '', head = (of) => sides.map((side) => `${of}${side}${unit}`);
	const modules = p.modules ? ['Module'] : [];
	const lines = [['Function', ...modules, 'Kind', ...head('Self'), ...head('Total')]];
	for (const l of table.rows) {
		const numbers = [...seen.labelSelf, ...seen.labelTotal].map((of) => of[l]);
		lines.push([p.name(l), ...modules.map(() => p.module(l)), KIND_NAMES[p.kind[l]], ...numbers]);
	}
	return lines.map((line) => `${line.map((text) => cell(String(text))).join(',')}\r\n`).join('');
}

// Lays out the whole picture for a file, calls make(picture), and restores that of the window.
function withPicture(app, make_) {
	const picture = new Picture(app.picture.rowHeight, app.picture.fontSize);
	app.lay(picture, FILE_WIDTH);
	const result = make_(picture);
	app.layout();
	return result;
}

function titleWords(app) {
	return [shown(app.p.title), ...app.edits.map((edit) => sayEdit(app.p, edit))].join(' · ');
}

async function pictureBlob(app) {
	const { palette } = app, canvas = withPicture(app, (picture) => {
		const [whole, part] = ['canvas', 'canvas'].map((tag) => document.createElement(tag)), head = FILE_HEAD;
		const height = Math.min(picture.height, FILE_MOST), ratio = height > FILE_MOST / 2 ? 1 : 2;
		const top = picture.fromBottom ? picture.height - height : 0;
		picture.draw(part, FILE_WIDTH, height, top, app.look(), ratio);
		whole.width = FILE_WIDTH * ratio;
		whole.height = (height + head) * ratio;
		const g = whole.getContext('2d');
		g.fillStyle = palette.back;
		g.fillRect(0, 0, whole.width, whole.height);
		g.fillStyle = palette.ink(palette.back, false);
		g.font = `600 ${15 * ratio}px ${FONT}`;
		g.fillText(titleWords(app), 4 * ratio, 19 * ratio);
		g.drawImage(part, 0, head * ratio);
		return whole;
	});
	return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

function markup(text) {
	return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

// Returns a box as SVG. g: a context with the font.
function boxText(app, picture, g, one, look) {
	const { rowHeight: row, fontSize } = picture, y = FILE_HEAD + one.row * row;
	const w = Math.max(0.3, one.w > 3 ? one.w - 1 : one.w * 0.85).toFixed(2);
	const rect = (top, h, fill) => `<rect x="${one.x.toFixed(2)}" y="${top}" width="${w}" height="${h}" fill="${fill}"/>`;
	if (one.rest)
		return rect(y + row / 4, row / 2, look.palette.rest);
	const { fill, ink } = picture.colours(one, look), name = look.label(one.box);
	const fit = one.w > 2.2 * fontSize ? picture.fit(g, name, one.w - 8) : '';
	const place = `x="${(one.x + 4).toFixed(2)}" y="${y + row / 2 + fontSize * 0.35}"`;
	const text = fit && `<text ${place} fill="${ink}">${markup(fit)}</text>`;
	const own = [name, app.kindOf(one.box), ...app.facts(one.box).map((fact) => fact.join(' '))];
	const facts = own.filter((line) => line).join('\n');
	return `<g><title>${markup(facts)}</title>${rect(y, row - 1, fill)}${text}</g>`;
}

function pictureText(app) {
	const { palette } = app, look = app.look(), g = document.createElement('canvas').getContext('2d');
	const title = markup(titleWords(app)), ink = palette.ink(palette.back, false);
	return withPicture(app, (picture) => {
		g.font = `${picture.fontSize}px ${FONT}`;
		const size = [FILE_WIDTH, FILE_HEAD + picture.height];
		const boxes = picture.rows.flat().map((one) => boxText(app, picture, g, one, look));
		return ['<?xml version="1.0" encoding="UTF-8"?>',
			`<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}"`,
			` viewBox="0 0 ${size.join(' ')}" font-size="${picture.fontSize}" font-family="${markup(FONT)}">`,
			`<title>${title}</title>`, `<rect width="100%" height="100%" fill="${palette.back}"/>`,
			`<text x="4" y="19" font-size="15" font-weight="600" fill="${ink}">${title}</text>`,
			...boxes, '</svg>', ''].join('\n');
	});
}

const DOWNLOADS = [
	['Folded stacks', 'folded', 'text/plain', (app) => foldedPieces(app)],
	['Picture, SVG', 'svg', 'image/svg+xml', (app) => [pictureText(app)]],
	['Picture, PNG', 'png', 'image/png', async (app) => [await pictureBlob(app)]],
	['Table, CSV', 'csv', 'text/csv', (app) => [tableText(app)]],
];

async function download(app, [, ending, type, pieces]) {
	const blob = new Blob(await pieces(app), { type }), link = make('a', '');
	const words = app.p.title.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|-+$/g, '');
	const name = words.slice(0, 60) || 'flame';
	link.href = URL.createObjectURL(blob);
	link.download = `${name}.${ending}`;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
	app.say(`downloaded: ${link.download}`);
}

// Puts a text on the clipboard and calls done().
function copyText(text, done) {
	const older = () => {
		const area = document.createElement('textarea');
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
		done();
	};
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(done, older);
	else
		older();
}
