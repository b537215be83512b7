'use strict';
// The data block: varints, possibly gzipped, in base64. It is read into typed arrays, indexed by node in
// pre-order: node 0 is the invisible root, a subtree is i .. end[i]-1, its first child is i+1, and the next
// sibling of a child c is end[c].

const MAGIC = 'cprofv2\n';
const SIDES = 1, TIMES = 2, ICICLE = 4, KINDS = 8, RUNS = 16, LANES = 32, MODULES = 64;

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
		return bytes;
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads the block. Reading past the end throws an error instead of returning zeros.
class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
		this.utf8 = new TextDecoder();
	}

	// Reads a varint as a double, exact up to 2^53.
	number() {
		const bytes = this.bytes;
		let b = bytes[this.at++];
		if (b < 128)
			return b;
		let value = 0, scale = 1;
		for (;;) {
			if (b === undefined || scale > 2 ** 63)
				throw new Error(`the data ends or is damaged at byte ${this.at}`);
			value += (b & 127) * scale;
			if (b < 128)
				return value;
			scale *= 128;
			b = bytes[this.at++];
		}
	}

	// Reads the number of items that take at least one byte each.
	count() {
		const n = this.number();
		if (n > this.bytes.length - this.at)
			throw new Error(`the data is damaged at byte ${this.at}`);
		return n;
	}

	skip(n) {
		const from = this.at;
		this.at += n;
		return from;
	}

	text() {
		const n = this.count();
		const from = this.skip(n);
		return this.utf8.decode(this.bytes.subarray(from, from + n));
	}

	pairs() {
		const list = [];
		for (let n = this.count(); n > 0; n--)
			list.push([this.text(), this.text()]);
		return list;
	}
}

function readProfile(bytes) {
	const r = new Reader(bytes);
	for (let i = 0; i < MAGIC.length; i++)
		if (bytes[r.at++] !== MAGIC.charCodeAt(i))
			throw new Error('this is not a data block of cprof-flame');
	const flags = r.number();
	const p = {
		sides: flags & SIDES ? 2 : 1, icicle: !!(flags & ICICLE), kinds: !!(flags & KINDS),
		title: r.text(), subtitle: r.text(), unit: r.text(), names: [r.text(), r.text()],
		options: new Map(r.pairs()), ledger: r.pairs(), times: null,
	};
	readLabels(r, p);
	readModules(r, p, flags);
	readTree(r, p);
	if (flags & TIMES)
		readTimes(r, p);
	if (flags & RUNS)
		readRuns(r, p.times);
	if (flags & LANES)
		readLanes(r, p);
	return p;
}

// Names are decoded when first used: a picture shows a few hundred of 100,000.
function readLabels(r, p) {
	const n = p.labels = r.count();
	const start = new Uint32Array(n), length = new Uint32Array(n), names = new Array(n + 1);
	p.kind = new Uint8Array(n + 1);
	p.selfVerdict = new Uint8Array(n + 1);
	p.totalVerdict = new Uint8Array(n + 1);
	for (let i = 0; i < n; i++) {
		p.kind[i] = r.number();
		length[i] = r.count();
		start[i] = r.skip(length[i]);
		if (p.sides === 2) {
			p.selfVerdict[i] = r.number();
			p.totalVerdict[i] = r.number();
		}
	}
	// The root has a label too, the last one.
	p.kind[n] = 5;
	names[n] = 'all';
	p.name = (i) => {
		if (names[i] === undefined)
			names[i] = r.utf8.decode(r.bytes.subarray(start[i], start[i] + length[i]));
		return names[i];
	};
}

// clash() is true for labels that only their modules tell apart; most are the only ones of their name.
function readModules(r, p, flags) {
	const texts = [''], number = new Uint32Array(p.labels + 1);
	p.modules = !!(flags & MODULES);
	for (let n = p.modules ? r.count() : 0; n > 0; n--)
		texts.push(r.text());
	for (let i = 0; p.modules && i < p.labels; i++) {
		number[i] = r.number();
		if (number[i] + 1 >= 2 * texts.length)
			throw new Error(`label ${i} has no module: the data is damaged`);
	}
	p.clashes = number.some((value) => value > 0 && value % 2 === 0);
	p.module = (i) => texts[(number[i] + 1) >> 1];
	p.clash = (i) => number[i] > 0 && number[i] % 2 === 0;
}

function readTree(r, p) {
	const n = p.nodes = r.count() + 1;
	const label = p.label = new Int32Array(n), parent = p.parent = new Int32Array(n), end = p.end = new Int32Array(n);
	const self = p.self = [];
	for (let side = 0; side < p.sides; side++)
		self.push(new Float64Array(n));
	p.verdict = p.sides === 2 ? new Uint8Array(n) : null;
	label[0] = p.labels;
	// Until a subtree is closed, end[] counts the children still to come.
	end[0] = r.number();
	let open = 0;
	for (let i = 1; i < n; i++) {
		while (end[open] === 0) {
			if (open === 0)
				throw new Error(`node ${i} has no parent: the data is damaged`);
			end[open] = i;
			open = parent[open];
		}
		end[open]--;
		parent[i] = open;
		const head = r.number();
		const passes = head % 2;
		label[i] = (head - passes) / 2;
		end[i] = passes || r.number();
		for (let side = 0; side < p.sides && !passes; side++)
			self[side][i] = r.number();
		if (p.sides === 2)
			p.verdict[i] = r.number();
		if (label[i] >= p.labels)
			throw new Error(`node ${i} has no label: the data is damaged`);
		open = i;
	}
	for (;;) {
		if (end[open] !== 0)
			throw new Error('the tree is cut short: the data is damaged');
		end[open] = n;
		if (open === 0)
			break;
		open = parent[open];
	}
}

function readTimes(r, p) {
	const t = p.times = { sliceNs: r.number(), slices: r.number(), entries: r.count(), runs: [] };
	t.slice = new Uint32Array(t.entries);
	t.node = new Int32Array(t.entries);
	t.who = null;
	t.spans = noSpans(0);
	t.starts = [];
	t.ticks = [];
	let slice = 0, weights = t.weight = new Uint32Array(t.entries);
	for (let i = 0; i < t.entries; i++) {
		slice += r.number();
		t.slice[i] = slice;
		t.node[i] = r.number();
		const weight = r.number();
		if (weight > 0xffffffff && weights instanceof Uint32Array)
			weights = t.weight = Float64Array.from(weights);
		weights[i] = weight;
		if (slice >= t.slices || t.node[i] >= p.nodes)
			throw new Error(`moment ${i} is outside of the profile: the data is damaged`);
	}
	if (!(t.sliceNs > 0))
		throw new Error('moments have no length: the data is damaged');
}

// Reads the first slice of each capture except the first.
function readRuns(r, t) {
	if (!t)
		throw new Error('runs without moments: the data is damaged');
	let slice = 0;
	for (let n = r.count(); n > 0; n--)
		t.runs.push(slice += r.number());
}
