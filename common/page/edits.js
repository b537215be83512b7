// Edits: the profile without some stacks or frames, as cprof-fold's --focus, --exclude and
// --collapse-recursion make it, and the weights of its visible part.
//
// An edit is a pair, its verb and a label (-1: none). They are applied one after the other. Weights are read
// for the nodes of the page's profile, and map[] moves each to its node in the edited one (-1: left out).

const EDIT_VERBS = {
	focus: (name) => `only stacks with ${name}`, drop: (name) => `no stacks with ${name}`,
	only: (name) => `only ${name}`, merge: (name) => `${name} merged into callers`,
	collapse: () => 'recursion collapsed', hide: () => 'no sleepers',
};
const HAS_LABEL = /^(focus|drop|only|merge)$/;

// Reads edits from the fragment. One whose function is not in this profile is left out.
function readEdits(text, paths) {
	const list = [];
	for (const part of text ? text.split(',') : []) {
		const [verb, word] = part.split(':'), label = word === undefined ? -1 : paths.label(word);
		if (Object.hasOwn(EDIT_VERBS, verb) && (label >= 0) === HAS_LABEL.test(verb))
			list.push([verb, label]);
	}
	return list;
}

function editWords(p, list) {
	return list.map(([verb, label]) => (label < 0 ? verb : `${verb}:${labelWord(p, label)}`)).join(',');
}

function sayEdit(p, [verb, label]) {
	return EDIT_VERBS[verb](label < 0 ? '' : shown(fullName(p, label)));
}

// Returns { p, map }: the edited profile, and the place of each node in it; map is null if nothing moved.
function editProfile(p, list) {
	let at = { p, map: null };
	for (const [verb, label] of list) {
		const map = new Int32Array(at.p.nodes);
		const next = { only: keepRoot, merge: foldFrames, collapse: foldFrames }[verb] || keepStacks;
		const q = next(at.p, map, verb, label);
		at = { p: q, map: at.map ? at.map.map((node) => (node < 0 ? -1 : map[node])) : map };
	}
	return at;
}

function keepStacks(p, map, verb, label) {
	const has = new Uint8Array(p.nodes), own = new Uint8Array(p.labels + 1);
	const wanted = verb === 'focus' ? 1 : 0;
	for (let l = 0; l < p.labels; l++)
		own[l] = verb === 'hide' ? p.kind[l] === SLEEPING : l === label;
	for (let i = 1; i < p.nodes; i++) {
		has[i] = has[p.parent[i]] | own[p.label[i]];
		map[i] = has[i] === wanted ? i : -1;
	}
	return p;
}

// Keeps the stacks whose outermost frame has the label.
function keepRoot(p, map, verb, label) {
	map.fill(-1);
	for (let root = 1; root < p.nodes; root = p.end[root])
		for (let i = root; p.label[root] === label && i < p.end[root]; i++)
			map[i] = i;
	return p;
}

// Labels that cprof-fold prints alike get one number: a process may be called like its function, and a
// function like one of another module.
function sameText(p) {
	const text = Int32Array.from({ length: p.labels + 1 }, (_, l) => l);
	for (let k = 0, l = 1; l < p.labels; k = l++)
		if (p.clash(k) && p.clash(l) && p.kind[k] === p.kind[l] && p.name(k) === p.name(l))
			text[l] = text[k];
	for (let l = 0; l < p.labels; l++) {
		if (p.kind[l] !== ROOT)
			continue;
		for (const step of [-1, 1])
			for (let k = l + step; k >= 0 && k < p.labels && p.name(k) === p.name(l); k += step)
				if (p.kind[k] === 0 || p.kind[k] > ROOT)
					text[k] = l;
	}
	return text;
}

// Makes a tree without the frames that a frame outside of them absorbs: those of a label, or recursive ones.
function foldFrames(p, map, verb, merged) {
	const { label, parent, end } = p, text = verb === 'collapse' ? sameText(p) : null;
	const absorbs = text ? (a, b) => text[label[a]] === text[label[b]] : (a, b) => label[b] === merged;
	const touched = new Uint8Array(p.nodes);
	for (let i = p.nodes - 1; i > 0; i--)
		if (touched[i] || absorbs(parent[i], i))
			touched[parent[i]] = 1;
	const to = { label: new Int32Array(p.nodes), parent: new Int32Array(p.nodes) }, todo = [[[0], 0]];
	let n = 0;
	while (todo.length) {
		const [items, above] = todo.pop(), [first] = items, here = n++;
		to.label[here] = label[first];
		to.parent[here] = above;
		if (items.length === 1 && !touched[first]) {
			// Nothing changes below: copy the subtree.
			map[first] = here;
			for (let i = first + 1; i < end[first]; i++, n++) {
				to.label[n] = label[i];
				to.parent[n] = parent[i] - first + here;
				map[i] = n;
			}
			continue;
		}
		const groups = new Map();
		for (let k = 0; k < items.length; k++) { // grows by the absorbed
			map[items[k]] = here;
			for (let c = items[k] + 1; c < end[items[k]]; c = end[c]) {
				if (absorbs(items[k], c))
					items.push(c);
				else if (groups.has(label[c]))
					groups.get(label[c]).push(c);
				else
					groups.set(label[c], [c]);
			}
		}
		// Siblings are in the order of labels.
		for (const l of [...groups.keys()].sort((a, b) => b - a))
			todo.push([groups.get(l), here]);
	}
	return finishTree(p, to, n);
}

// The weights stay those of the page's profile.
function finishTree(p, to, n) {
	const end = Int32Array.from({ length: n }, (_, i) => i + 1), parent = to.parent.slice(0, n);
	for (let i = n - 1; i > 0; i--)
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	return { ...p, nodes: n, label: to.label.slice(0, n), parent, end };
}

function moveWeights(self, map, nodes) {
	const to = new Float64Array(nodes);
	for (let i = 1; i < self.length; i++)
		if (map[i] >= 0)
			to[map[i]] += self[i];
	return to;
}

// ---- the visible part

// The weights of a node and those below it, in the form of weigh().
function weighBelow(p, w, node) {
	const sum = w.total.map((total) => total[node]);
	const seen = { ...w, labelSelf: [], labelTotal: [], sum, from: node, to: p.end[node] };
	for (let side = 0; side < p.sides; side++) {
		const bySelf = new Float64Array(p.labels + 1), byTotal = new Float64Array(p.labels + 1);
		const until = new Int32Array(p.labels + 1), own = w.self[side], total = w.total[side];
		for (let i = node; i < seen.to; i++) {
			const l = p.label[i];
			bySelf[l] += own[i];
			if (i >= until[l]) {
				byTotal[l] += total[i];
				until[l] = p.end[i];
			}
		}
		seen.labelSelf.push(bySelf);
		seen.labelTotal.push(byTotal);
	}
	return seen;
}

// Tells if the stack of a node ends with these labels, innermost first.
function endsWith(p, node, path) {
	for (const label of path) {
		if (node === 0 || p.label[node] !== label)
			return false;
		node = p.parent[node];
	}
	return true;
}

function selfsEndingWith(p, self, path) {
	return self.map((own) => own.map((weight, i) => (weight > 0 && endsWith(p, i, path) ? weight : 0)));
}
