// Weights in order of time: which thread and CPU they are of, waits that cover many slices, and the ledger.

function noSpans(n) {
	return {
		n, slice: new Uint32Array(n), count: new Uint32Array(n), node: new Int32Array(n),
		who: new Uint32Array(n), weight: new Float64Array(n),
	};
}

// Reads what lanes_data.h describes.
function readLanes(r, p) {
	const t = p.times, texts = [], damaged = () => new Error('lanes are damaged');
	if (!t)
		throw new Error('lanes without moments: the data is damaged');
	for (let n = r.count(); n > 0; n--)
		texts.push(r.text());
	t.origins = [];
	for (let n = r.count(); n > 0; n--) {
		const [host, container, comm] = [r.number(), r.number(), r.number()].map((i) => texts[i]);
		const [pid, tid, cpu] = [r.number(), r.number(), r.number() - 1];
		t.origins.push({ host, container, comm, pid, tid, cpu });
	}
	const check = (who) => {
		if (who >= t.origins.length)
			throw damaged();
		return who;
	};
	t.who = new (t.origins.length > 65535 ? Uint32Array : Uint16Array)(t.entries);
	for (let i = 0; i < t.entries; i++)
		t.who[i] = check(r.number());
	const spans = t.spans = noSpans(r.count());
	for (let i = 0, slice = 0; i < spans.n; i++) {
		spans.slice[i] = slice += r.number();
		spans.count[i] = r.number();
		spans.node[i] = r.number();
		spans.who[i] = check(r.number());
		spans.weight[i] = r.number();
		if (slice + spans.count[i] > t.slices || spans.node[i] >= p.nodes || spans.count[i] === 0)
			throw damaged();
	}
	t.starts = [0, ...t.runs].map(() => r.number());
	t.outcomes = [];
	for (let n = r.count(); n > 0; n--)
		t.outcomes.push(r.text());
	for (let n = r.count(), slice = 0; n > 0; n--)
		t.ticks.push({
			slice: slice += r.number(), slices: r.number(), outcome: r.number(), count: r.number(),
		});
}

// Returns the weight in the first n slices of a span.
function spanUpTo(spans, i, n) {
	const count = spans.count[i], weight = spans.weight[i], left = weight % count;
	return n >= count ? weight : (weight - left) / count * n + Math.floor(left * n / count);
}

// Returns the weight of a span in the slices from .. to-1.
function spanWithin(spans, i, from, to) {
	const begin = Math.max(0, from - spans.slice[i]), end = Math.min(spans.count[i], to - spans.slice[i]);
	return end > begin ? spanUpTo(spans, i, end) - spanUpTo(spans, i, begin) : 0;
}

function firstOfSlice(t, slice) {
	let low = 0, high = t.entries;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (t.slice[mid] < slice)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

// Calls visit(node, who, weight, first slice, number of slices) for all weight in the slices from .. to-1.
function visitRange(t, from, to, visit) {
	for (let i = firstOfSlice(t, from), n = firstOfSlice(t, to); i < n; i++)
		visit(t.node[i], t.who ? t.who[i] : 0, t.weight[i], t.slice[i], 1);
	const { spans } = t;
	for (let i = 0; i < spans.n && spans.slice[i] < to; i++) {
		const begin = Math.max(from, spans.slice[i]);
		const end = Math.min(to, spans.slice[i] + spans.count[i]);
		if (end > begin)
			visit(spans.node[i], spans.who[i], spanWithin(spans, i, from, to), begin, end - begin);
	}
}

// Returns the self weights of a range, or of all time, and of the chosen origins, or of all.
function selfsOfRange(p, range, chosen) {
	const self = new Float64Array(p.nodes), [from, to] = range || [0, p.times.slices];
	visitRange(p.times, from, to, (node, who, weight) => {
		if (!chosen || chosen[who])
			self[node] += weight;
	});
	return self;
}

// Sums the weight in cells of group slices each, the first of which begins at slice from. Counts what
// isCounted(node, who) is true for.
function weightOfCells(t, from, cells, group, isCounted = () => true) {
	const weight = new Float64Array(cells), to = Math.min(t.slices, from + cells * group);
	for (let i = firstOfSlice(t, from), n = firstOfSlice(t, to); i < n; i++)
		if (isCounted(t.node[i], t.who ? t.who[i] : 0))
			weight[Math.floor((t.slice[i] - from) / group)] += t.weight[i];
	const { spans } = t;
	for (let i = 0; i < spans.n && spans.slice[i] < to; i++) {
		if (!isCounted(spans.node[i], spans.who[i]))
			continue;
		const begin = Math.max(from, spans.slice[i]);
		const end = Math.min(to, spans.slice[i] + spans.count[i]);
		for (let cell = Math.floor((begin - from) / group); cell * group + from < end; cell++)
			weight[cell] += spanWithin(spans, i, from + cell * group,
				Math.min(to, from + (cell + 1) * group));
	}
	return weight;
}

// Returns the ticks by outcome that were counted in a range. The recorder writes the ledger about once a
// second, so the ticks at the ends are divided by time.
function ticksOfRange(t, [from, to]) {
	const sums = new Map();
	for (const tick of t.ticks) {
		const within = Math.min(to, tick.slice + tick.slices) - Math.max(from, tick.slice);
		if (within > 0) {
			const name = t.outcomes[tick.outcome];
			sums.set(name, (sums.get(name) || 0) + tick.count * within / tick.slices);
		}
	}
	return sums;
}

// Times of slices as text: since the beginning, and by the clock.
class Clock {
	constructor(times) {
		this.t = times;
	}

	seconds(slice, ns = this.t.sliceNs) {
		const length = this.t.sliceNs / 1e9;
		const digits = ns < 1e9 ? Math.min(3, Math.max(2, Math.ceil(-Math.log10(ns / 1e9)))) : 0;
		return `${(slice * length).toFixed(digits)} s`;
	}

	run(slice) {
		return this.t.runs.filter((begin) => begin <= slice).length;
	}

	// Milliseconds since 1970, or NaN.
	since1970(slice) {
		const run = this.run(slice), start = this.t.starts[run];
		const within = slice - (run ? this.t.runs[run - 1] : 0);
		return start ? start + within * this.t.sliceNs / 1e6 : NaN;
	}

	// The time of day; '' if it is unknown. Parts of a second are left out if they are 0 or small beside ns.
	clock(slice, ns = this.t.sliceNs) {
		const at = Math.round(this.since1970(slice) / (ns < 60e9 ? 1 : 1000)) * (ns < 60e9 ? 1 : 1000);
		if (Number.isNaN(at))
			return '';
		const date = new Date(at), two = (n) => String(n).padStart(2, '0'), rest = date.getMilliseconds();
		const part = ns < 1e9 || rest ? `.${String(rest).padStart(3, '0')}` : '';
		return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${part}`;
	}

	// Returns "12.40 s, 14:03:12.400".
	both(slice, ns) {
		const clock = this.clock(slice, ns);
		return this.seconds(slice, ns) + (clock && `, ${clock}`);
	}
}

// A length of time as text, such as "20 ms" or "5 min".
function sayLength(ns) {
	for (const [unit, size] of [['h', 3600e9], ['min', 60e9], ['s', 1e9]])
		if (ns >= size && ns % size === 0)
			return `${ns / size} ${unit}`;
	return ns >= 1e9 ? `${+(ns / 1e9).toFixed(1)} s` : `${+(ns / 1e6).toFixed(1)} ms`;
}
