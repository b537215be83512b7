// The picture: the places and the look of boxes.

const KIND_NAMES = ['user', 'kernel', 'inlined', 'JIT', 'interpreted', 'process', 'no name',
	'sleeping', 'left out', 'uninterruptible', 'waiting for a CPU'];
const ROOT = 5, SLEEPING = 7;
const KIND_ORDER = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8]; // in the legend: states of waiting side by side
// Lightness, chroma and hue (OKLCH) by kind. The hues, after Okabe and Ito, suit any colour vision.
const KIND_COLOURS = [
	[0.815, 0.115, 72], [0.765, 0.1, 238], [0.735, 0.1, 166], [0.735, 0.115, 346], [0.915, 0.125, 106],
	[0.82, 0.012, 260], [0.885, 0.008, 260], [0.86, 0.06, 310], [0.93, 0.006, 260],
	[0.64, 0.13, 295], [0.67, 0.17, 38],
];
// Names of flamegraph.pl's --colors: one hue for all kinds.
const SCHEMES = {
	hot: 45, red: 25, orange: 60, yellow: 100, green: 150, aqua: 200, io: 250, blue: 250, mem: 145, purple: 310,
};
const READABLE = 4.6; // least contrast of text; WCAG 2 AA asks for 4.5
const LESS = 248, MORE = 55; // hues of differences: blue and orange

// Converts OKLCH to a colour that every canvas supports.
function oklch(l, c, h) {
	const a = c * Math.cos(h * Math.PI / 180), b = c * Math.sin(h * Math.PI / 180);
	const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const linear = [
		4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
		-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
		-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
	];
	const channels = linear.map((v) => {
		const u = Math.min(1, Math.max(0, v));
		return Math.round(255 * (u <= 0.0031308 ? 12.92 * u : 1.055 * u ** (1 / 2.4) - 0.055));
	});
	return `rgb(${channels.join(' ')})`;
}

// Reads a colour made by oklch() or of the form #rrggbb as three numbers from 0 to 255.
function channels(colour) {
	if (colour[0] === '#')
		return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
	return colour.match(/\d+/g).map(Number);
}

// Mixes two colours; part: that of the second, 0 .. 1.
function mix(a, b, part) {
	const to = channels(b);
	return `rgb(${channels(a).map((v, i) => Math.round(v + (to[i] - v) * part)).join(' ')})`;
}

// Relative luminance, as WCAG 2 defines it.
function luminance(colour) {
	const linear = (v) => (v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
	const [r, g, b] = channels(colour).map(linear);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
	const [x, y] = [luminance(a), luminance(b)];
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

// Derives two numbers in -1 .. 1 from a name, the same in every picture.
function scatter(name) {
	let h = 2166136261;
	for (let i = 0; i < name.length && i < 200; i++)
		h = Math.imul(h ^ name.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return [(h & 1023) / 511.5 - 1, (h >>> 10 & 1023) / 511.5 - 1];
}

class Palette {
	constructor(profile, dark) {
		this.p = profile;
		this.dark = dark;
		this.hue = SCHEMES[profile.options.get('colors')];
		this.plain = profile.options.get('colors') === 'grey';
		this.cache = [[], []];
		this.back = dark ? '#14171b' : '#ffffff'; // as --back in page.css
		this.inks = dark ? ['#0d1014', '#f2f5f8'] : ['#14171c', '#ffffff'];
		this.inkOf = [new Map(), new Map()];
		this.fadedOf = new Map();
		this.rest = dark ? '#262b31' : '#e9ebee';
		this.accent = dark ? '#f5f7fa' : '#101318';
	}

	// The fill of a box above the zoomed one.
	faded(fill) {
		if (!this.fadedOf.has(fill))
			this.fadedOf.set(fill, mix(fill, this.back, 0.45));
		return this.fadedOf.get(fill);
	}

	// The colour of text on a fill: dark or light, or, if quiet, only as strong as reading needs.
	ink(fill, quiet) {
		const known = this.inkOf[quiet ? 1 : 0];
		if (!known.has(fill)) {
			const [a, b] = this.inks, full = contrast(b, fill) > contrast(a, fill) ? b : a;
			let part = quiet ? 0.4 : 0;
			while (part > 0 && contrast(mix(full, fill, part), fill) < READABLE)
				part -= 0.05;
			known.set(fill, part > 0 ? mix(full, fill, part) : full);
		}
		return known.get(fill);
	}

	// Darker fills would be too dark for dark text, and not dark enough for light text.
	tone(l, c, h, pale) {
		if (this.dark)
			return pale ? oklch(0.33 + (l - 0.8) * 0.15, c * 0.22, h)
				: oklch(Math.max(l - 0.075, 0.61), c, h);
		return pale ? oklch(0.945 + (l - 0.8) * 0.12, c * 0.18, h) : oklch(l, c, h);
	}

	kind(kind) {
		const [l, c, h] = KIND_COLOURS[kind] || KIND_COLOURS[0];
		if (this.plain)
			return [l, 0, h];
		return this.hue === undefined || kind > 4 ? [l, c, h] : [0.8, 0.12, this.hue];
	}

	label(label, pale) {
		const cache = this.cache[pale ? 1 : 0];
		if (cache[label] === undefined) {
			const kind = this.p.kind[label];
			const [l, c, h] = this.kind(kind);
			const [s, t] = scatter(this.p.name(label));
			const free = kind > 4 ? 0.3 : this.hue === undefined ? 1 : 1.6;
			cache[label] = this.tone(l + 0.033 * s * free, c * (1 + 0.12 * t * free), h + 7 * t * free, pale);
		}
		return cache[label];
	}

	// change: -1 .. 1; 0: not significant.
	change(change, pale) {
		const size = change === 0 ? 0 : 0.3 + 0.7 * Math.abs(change);
		const hue = change === 0 ? 260 : change < 0 ? LESS : MORE;
		if (!this.dark)
			return this.tone(0.885 - 0.185 * size, 0.004 + 0.15 * size, hue, pale);
		return pale ? oklch(0.27, 0.01 + 0.03 * size, hue) : oklch(0.6 + 0.1 * size, 0.006 + 0.15 * size, hue);
	}

	// As change() if the significance is unknown: only a faint colour.
	unjudged(change, pale) {
		const hue = change < 0 ? LESS : MORE, c = change === 0 ? 0 : 0.025 + 0.025 * Math.abs(change);
		return this.dark ? oklch(pale ? 0.27 : 0.66, pale ? c / 3 : c, hue) : this.tone(0.93, c, hue, pale);
	}
}

// The name as shown, without control characters or marks that change the direction of writing.
function shown(name) {
	return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
}

// Lays out the boxes of a tree in rows by level, each row from left to right. The boxes on the path to the
// zoomed one are as wide as the picture. Children narrower than least pixels are not listed; adjacent ones
// become one "rest".
function layTree(tree, zoom, width, least, factor, heavy) {
	const rows = [];
	const add = (level, one) => (rows[level] || (rows[level] = [])).push(one);
	const value = (box) => factor[0] * box.total[0] + factor[1] * box.total[1];
	for (let box = zoom; box; box = box.parent)
		add(box.level, { box, x: 0, w: width, rest: 0, above: box !== zoom });
	const scale = value(zoom) > 0 ? width / value(zoom) : 0;
	const stack = scale > 0 ? [rows[zoom.level][0]] : [];
	while (stack.length) {
		const one = stack.pop(), { box } = one;
		const wide = tree.expand(box, factor, least / scale).filter((kid) => value(kid) * scale >= least);
		const inside = (factor[0] * box.inside[0] + factor[1] * box.inside[1]) * scale;
		if (heavy)
			wide.sort((a, b) => value(b) - value(a));
		const found = [];
		let edge = one.x, level = box.level + 1;
		for (const kid of wide) {
			const x = heavy ? edge : one.x + (factor[0] * kid.before[0] + factor[1] * kid.before[1]) * scale;
			if (x - edge >= 0.5)
				add(level, { box, x: edge, w: x - edge, rest: box.count - wide.length });
			const placed = { box: kid, x, w: value(kid) * scale, rest: 0 };
			add(level, placed);
			found.push(placed);
			edge = x + placed.w;
		}
		if (one.x + inside - edge >= 0.5)
			add(level, { box, x: edge, w: one.x + inside - edge, rest: box.count - wide.length });
		while (found.length)
			stack.push(found.pop());
	}
	return rows;
}

// Returns where the namespaces, the classes and the name of a C++ function begin; not those of its arguments.
function componentsOf(name) {
	const starts = [0];
	for (let i = 0, depth = 0; i < name.length; i++) {
		if (name[i] === '(' && !name.startsWith('(anonymous namespace)', i) && depth === 0)
			break;
		if (name[i] === '<' || name[i] === '(')
			depth++;
		else if (name[i] === '>' || name[i] === ')')
			depth--;
		else if (depth === 0 && name.startsWith('::', i))
			starts.push(i + 2);
	}
	return starts;
}

// Finds the box at x in a row, by bisection.
function boxAt(row, x) {
	let low = 0, high = row ? row.length : 0;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (row[mid].x + row[mid].w <= x)
			low = mid + 1;
		else
			high = mid;
	}
	return row && low < row.length && row[low].x <= x ? row[low] : null;
}

// Rows from top to bottom, with their height. A sandwich has callers above the function and callees below.
class Picture {
	constructor(rowHeight, fontSize) {
		this.rowHeight = rowHeight;
		this.fontSize = fontSize;
		this.rows = [];
	}

	lay(down, up, rootOnTop) {
		this.rows = up ? up.slice(1).reverse().concat(down) : rootOnTop ? down.slice() : down.slice().reverse();
		this.height = this.rows.length * this.rowHeight;
		this.fromBottom = !up && !rootOnTop;
		this.turn = {}; // identifies this layout in the places that boxes remember
		for (let i = 0; i < this.rows.length; i++) {
			for (const one of this.rows[i] || (this.rows[i] = [])) {
				one.row = i;
				one.turn = this.turn;
				if (!one.rest)
					one.box.place = one;
			}
		}
	}

	at(x, y) {
		return boxAt(this.rows[Math.floor(y / this.rowHeight)], x);
	}

	findBox(box) {
		return box.place && box.place.turn === this.turn ? box.place : null;
	}

	// look: { palette, fill(box, pale), label(box), marks(box) or null, matches or null, hover, focus,
	// centre }; ratio: pixels of the canvas for one of the page
	draw(canvas, width, height, top, look, ratio = window.devicePixelRatio || 1) {
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.width = `${width}px`;
			canvas.style.height = `${height}px`;
		}
		const g = canvas.getContext('2d');
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, width, height);
		g.font = `${this.fontSize}px ${FONT}`;
		g.textBaseline = 'middle';
		const h = this.rowHeight;
		const first = Math.max(0, Math.floor(top / h));
		const last = Math.min(this.rows.length - 1, Math.floor((top + height) / h));
		for (let i = first; i <= last; i++)
			for (const one of this.rows[i])
				this.drawBox(g, one, i * h - top, look);
		for (const [one, wide] of [[look.centre, 1.25], [look.focus, 2], [look.hover, 1.25]])
			if (one && one.row >= first && one.row <= last)
				this.outline(g, one, one.row * h - top, look.palette.accent, wide);
	}

	drawBox(g, one, y, look) {
		const { x } = one, h = this.rowHeight - 1;
		const w = Math.max(one.w > 3 ? one.w - 1 : one.w * 0.85, 0.35);
		if (one.rest) {
			g.fillStyle = look.palette.rest;
			g.fillRect(x, y + h / 4, w, h / 2);
			return;
		}
		const pale = look.matches !== null && !look.matches[one.box.label];
		const { fill, ink } = this.colours(one, look);
		g.fillStyle = fill;
		if (w > 5) {
			g.beginPath();
			g.roundRect(x, y, w, h, 2.5);
			g.fill();
		} else {
			g.fillRect(x, y, w, h);
		}
		if (look.marks)
			this.drawMarks(g, x, y, w, h, look.marks(one.box), pale, look);
		if (look.matches !== null && !pale && w > 2)
			this.underline(g, x, y, w, h, look);
		if (w > 2.2 * this.fontSize)
			this.drawText(g, look.label(one.box), x, y, w, h, ink);
	}

	// The colours of a box and of its text. Boxes without a match and those above the zoomed one are pale.
	colours(one, look) {
		const pale = look.matches !== null && !look.matches[one.box.label];
		const fill = look.fill(one.box, pale), shade = one.above ? look.palette.faded(fill) : fill;
		return { fill: shade, ink: look.palette.ink(shade, pale || one.above) };
	}

	underline(g, x, y, w, h, look) {
		g.fillStyle = look.palette.dark ? '#ffffff' : '#14171c';
		g.fillRect(x, y + h - 2, w, 2);
	}

	// Vanished code is hatched; new code has a corner.
	drawMarks(g, x, y, w, h, mark, pale, look) {
		if (!mark || w < 1)
			return;
		g.save();
		g.beginPath();
		g.rect(x, y, w, h);
		g.clip();
		const [ink, paleInk] = look.palette.dark ? ['#14171c', '#59616b'] : ['#3d434c', '#b9bec5'];
		g.strokeStyle = g.fillStyle = pale ? paleInk : ink;
		g.beginPath();
		if (mark === 'gone') {
			g.globalAlpha *= 0.55;
			g.lineWidth = 1.1;
			for (let at = Math.floor((x - h) / 7) * 7; at < x + w; at += 7) {
				g.moveTo(at, y + h);
				g.lineTo(at + h, y);
			}
			g.stroke();
		} else {
			const size = Math.min(9, w);
			g.moveTo(x + w - size, y);
			g.lineTo(x + w, y);
			g.lineTo(x + w, y + size);
			g.fill();
		}
		g.restore();
	}

	drawText(g, text, x, y, w, h, colour) {
		g.fillStyle = colour;
		g.fillText(this.fit(g, text, w - 8), x + 4, y + h / 2 + 0.5);
	}

	// Returns as much of the text as has room; nothing, if that is too little to read. Namespaces go
	// first, because many names have them in common.
	fit(g, text, room) {
		const fits = (part) => g.measureText(part).width <= room;
		if (text.length > 300 || !text.includes('::') || fits(text))
			return this.cut(g, text, room);
		const starts = componentsOf(text), last = starts.length - 1;
		const good = starts.find((at, i) => i === last || fits(`…${text.slice(at)}`));
		return this.cut(g, good ? `…${text.slice(good)}` : text, room);
	}

	cut(g, text, room) {
		let fit = text;
		let wide = g.measureText(text.length > 300 ? text.slice(0, 300) : text).width;
		if (text.length > 300 || wide > room) {
			let n = Math.min(text.length, Math.max(1, Math.floor(room / (wide / Math.min(300, text.length)))));
			for (; n > 0; n--) {
				fit = `${text.slice(0, n)}…`;
				wide = g.measureText(fit).width;
				if (wide <= room)
					break;
			}
			if (n === 0 || fit.length < 3)
				return '';
		}
		return fit;
	}

	outline(g, one, y, colour, width) {
		g.strokeStyle = colour;
		g.lineWidth = width;
		g.beginPath();
		g.roundRect(one.x + 0.5, y + 0.5, Math.max(2, one.w - 2), this.rowHeight - 2, 2.5);
		g.stroke();
	}
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
