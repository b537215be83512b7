// Formats numbers, and keeps the page's state in the URL's fragment.

const KEYS = [
	['← ↑ → ↓', 'move the focus from box to box'],
	['Enter', 'zoom to the focused box (also: click)'],
	['Backspace', 'zoom out by one'],
	['Escape, 0', 'zoom out to all; in a field: leave it'],
	['/', 'search by regular expression; capitals matter once there are any'],
	['n, N', 'next, previous match; first to the widest one (in the field: Enter)'],
	['f, r', 'stacks from the root; reversed, callers merged from the leaf'],
	['s', 'sandwich of the focused function: callers above, callees below (also: double click)'],
	['o', 'heaviest first, or by name'],
	['i', 'root on top, or at the bottom'],
	['w, x', 'differences: width before, after, both; colour by totals or selfs'],
	['t', 'table of functions; there a click is a sandwich, with Shift a search'],
	['m', 'to the heat map; there arrows move, Enter marks both ends, Escape selects all, + and - zoom'],
	['c, C', 'copy the name of the focused function; the whole stack, one frame a line'],
	['F, X', 'only stacks with the focused function; none of them (also: right click, long press)'],
	['M, R', 'merge the focused function into its callers; collapse recursion'],
	['T, H', 'only this process or thread; hide sleepers'],
	['u, U', 'undo the last edit; all of them'],
	['e', 'download what is shown: folded stacks, SVG, PNG, or the table as CSV'],
	['Shift F10', 'all that can be done with the focused box'],
	['d', 'dark or light'],
	['?', 'these keys'],
];

const VERDICTS = ['not significant', 'significantly less', 'significantly more', 'new', 'gone',
	'not judged: merged from several stacks', 'not judged: a part of what the function does itself',
	'not judged: edits left out stacks or frames'];
const UNJUDGED_MERGED = 5, UNJUDGED_PART = 6, UNJUDGED_EDITED = 7; // only made by the page

const sayCount = (n) => Math.round(n).toLocaleString('en-US');

// The unit after a weight: " sample" or " samples"; '' for times, which have their own.
const sayUnit = (unit, n) => (unit === 'ns' ? ''
	: ` ${n === 1 ? unit.replace(/^(sample|event)s$/, '$1') : unit}`);

const DIGITS = [{ maximumFractionDigits: 0 }, { maximumFractionDigits: 2 }];

// Returns the end of a path, "…/libc.so.6", because paths differ there.
const lastPart = (path) => (path.startsWith('node:') ? path : path.replace(/^.*\/(?=.)/, '…/'));

// Returns "before: …/a.bin" and "after: …/b.bin", with whole paths if only these differ.
function sayNames(names) {
	const ends = names.map(lastPart), list = ends[0] === ends[1] ? names : ends;
	return ['before', 'after'].map((side, i) => (list[i] === side ? side : `${side}: ${shown(list[i])}`));
}

// The module as cprof-top shows it after a name: " [cc1]", " [kernel]".
function moduleMark(p, label) {
	const module = p.module(label);
	if (!p.clash(label) || p.name(label)[0] === '[')
		return '';
	return module[0] === '[' ? ` ${module}` : ` [${module}]`;
}

// The name with its module if functions of other modules have the same name.
const fullName = (p, label) => p.name(label) + moduleMark(p, label);

function sayTime(ns) {
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
		if (ns >= size)
			return `${(ns / size).toLocaleString('en-US', ns >= 100 * size ? DIGITS[0] : DIGITS[1])} ${unit}`;
	return `${ns} ns`;
}

function sayPercent(share) {
	const p = share * 100;
	if (p > 0 && p < 0.01)
		return '<0.01 %';
	return `${p.toFixed(p >= 99.995 ? 0 : 2)} %`;
}

function sayPoints(change) {
	const p = change * 100;
	return Math.abs(p) < 0.005 ? '0.00' : `${p > 0 ? '+' : '−'}${Math.abs(p).toFixed(2)}`;
}

// The 95 % interval of a share, k of n samples, as that of cprof-top --ci: E. B. Wilson's.
function intervalOf(k, n) {
	const z2 = 1.959963984540054 ** 2, share = k / n, whole = 1 + z2 / n;
	const middle = (share + z2 / (2 * n)) / whole;
	const half = Math.sqrt(z2 * share * (1 - share) / n + z2 * z2 / (4 * n * n)) / whole;
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const FEW = 100; // samples, as SUMMARY_FEW in cmd/shared/facts/summary.h

function cautionOf(n) {
	if (!(n >= 0.5 && n < FEW))
		return '';
	const [low, high] = intervalOf(n / 2, n), points = (100 * (high - low) / 2).toFixed(0);
	const samples = n < 1.5 ? '1 sample' : `${sayCount(n)} samples`;
	return `only ${samples}: shares may be off by ${points} points (95 %)`;
}

// Ignores case unless there is a capital. A capital after a backslash is a character class.
function regexOf(text) {
	const flags = /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i';
	try {
		return new RegExp(text, `${flags}u`);
	} catch (e) {
		return new RegExp(text, flags); // without u more is allowed: \-, \<, a lone brace
	}
}

// Defaults come from the command line; the fragment holds only the differences.
function defaultsOf(p) {
	const on = (key) => /^(1|yes|true)$/.test(p.options.get(key) || '');
	const width = p.options.get('diffwidth');
	return {
		view: on('reverse') ? 'reverse' : 'flame', of: '', zoom: '', callers: '', edit: '',
		query: p.options.get('search') || '',
		heavy: p.options.get('order') === 'heavy' ? '1' : '0', icicle: p.icicle || on('inverted') ? '1' : '0',
		width: width === 'before' || width === 'after' ? width : 'both',
		delta: p.options.get('delta') === 'self' ? 'self' : 'total',
		range: '', time: '', lanes: lanesOption(p), lane: '',
		theme: p.options.get('theme') || '', table: p.options.get('table') === '0' ? '0' : '',
	};
}

// Lanes are threads unless the command line says otherwise; a page without them has none.
function lanesOption(p) {
	const mode = p.options.get('lanes') || 'thread';
	return p.times && p.times.who && ALLOWED.lanes.includes(mode) ? mode : 'none';
}

const ALLOWED = {
	lanes: ['thread', 'process', 'container', 'cpu', 'none'],
	view: ['flame', 'reverse', 'sandwich'], heavy: ['0', '1'], icicle: ['0', '1'], width: ['both', 'before', 'after'],
	delta: ['total', 'self'], theme: ['', 'dark', 'light'], table: ['', '0', '1'],
};

const RAW = /^(zoom|callers|of|edit)$/; // their words are encoded one by one

function fragmentOf(state, defaults) {
	const parts = [];
	for (const key of Object.keys(defaults))
		if (state[key] !== defaults[key])
			parts.push(`${key}=${RAW.test(key) ? state[key] : encodeURIComponent(state[key])}`);
	return parts.join('&');
}

function stateOf(fragment, defaults) {
	const state = { ...defaults };
	for (const part of fragment.split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at);
		if (at < 0 || !Object.hasOwn(defaults, key))
			continue;
		let value = part.slice(at + 1);
		if (!RAW.test(key)) {
			try {
				value = decodeURIComponent(value);
			} catch (e) {
				continue;
			}
		}
		if (!ALLOWED[key] || ALLOWED[key].includes(value))
			state[key] = value;
	}
	return state;
}

// A path of labels as text: names, so that it works in the next profile, or numbers if names are too long.
const LONGEST_PATH = 4000;

function labelWord(p, label) {
	const code = (text) => encodeURIComponent(text).replace(/~/g, '%7E'), word = code(p.name(label));
	const module = p.clash(label) ? `~${code(p.module(label))}` : '';
	return p.kind[label] || word === '' || module ? `${word}~${p.kind[label]}${module}` : word;
}

function pathWords(p, path) {
	let text = '';
	for (const label of path) {
		text += (text ? ';' : '') + labelWord(p, label);
		if (text.length > LONGEST_PATH)
			return `@${path.join('.')}`;
	}
	return text;
}

class PathReader {
	constructor(p) {
		this.p = p;
		this.byName = null;
	}

	label(word) {
		const { p } = this, tilde = word.indexOf('~');
		let name, kind, module;
		try {
			[name, kind, module] = word.split('~').map(decodeURIComponent);
		} catch (e) {
			return -1;
		}
		if (!this.byName) {
			this.byName = new Map();
			for (let l = p.labels - 1; l >= 0; l--) {
				this.byName.set(`${p.kind[l]}~${p.name(l)}`, l);
				if (p.clash(l))
					this.byName.set(`${p.kind[l]}~${p.name(l)}~${p.module(l)}`, l);
			}
		}
		const exact = this.byName.get(`${kind}~${name}~${module}`);
		if (exact !== undefined)
			return exact;
		// Without a kind: a user function, otherwise any label with this name.
		// Links made before states of waiting had kinds of their own name them as SLEEPING.
		const waits = [SLEEPING, 9, 10];
		const kinds = tilde < 0 ? KIND_NAMES.keys() : kind === String(SLEEPING) ? waits : [kind];
		return [...kinds].map((kind) => this.byName.get(`${kind}~${name}`)).find((label) => label !== undefined) ?? -1;
	}

	path(text) {
		if (text === '')
			return [];
		const path = text[0] === '@' ? text.slice(1).split('.').map(Number)
			: text.split(';').map((word) => this.label(word));
		const end = path.findIndex((l) => !(Number.isInteger(l) && l >= 0 && l < this.p.labels));
		return end < 0 ? path : path.slice(0, end);
	}
}
