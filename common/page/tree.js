// Weights over the profile's tree, and the trees on the page: stacks, reversed stacks, callers, callees.
//
// A shown tree is built only as far as it is visible. Each of its nodes is a list of nodes of the profile
// ("items") that have the same path from the shown root; its children are the items' children (down) or
// parents (up), grouped by label. So reversing 2 million nodes costs only as much as the picture shows.

// Sums the weights of nodes and labels. self: a Float64Array per side, for all time or a range. from, to: the
// nodes that are visible.
function weigh(p, self) {
	const w = { self, total: [], labelSelf: [], labelTotal: [], sum: [], from: 1, to: p.nodes };
	for (const own of self) {
		const total = own.slice();
		for (let i = p.nodes - 1; i > 0; i--)
			total[p.parent[i]] += total[i];
		const bySelf = new Float64Array(p.labels + 1), byTotal = new Float64Array(p.labels + 1);
		const until = new Int32Array(p.labels + 1); // end of the label's outermost node
		for (let i = 0; i < p.nodes; i++) {
			const l = p.label[i];
			bySelf[l] += own[i];
			if (i >= until[l]) {
				byTotal[l] += total[i];
				until[l] = p.end[i];
			}
		}
		w.total.push(total);
		w.labelSelf.push(bySelf);
		w.labelTotal.push(byTotal);
		w.sum.push(total[0]);
	}
	return w;
}

// Sums the weight of matching frames. Matches inside a match are skipped, so overlaps count once.
function matchedWeight(p, w, matches, side) {
	const total = w.total[side];
	let sum = 0;
	for (let i = w.from; i < w.to;) {
		if (matches[p.label[i]]) {
			sum += total[i];
			i = p.end[i];
		} else {
			i++;
		}
	}
	return sum;
}

function matchLabels(p, re) {
	const matches = new Uint8Array(p.labels + 1);
	for (let i = 0; i < p.labels; i++)
		matches[i] = re.test(p.name(i)) ? 1 : 0;
	return matches;
}

// Returns the outermost nodes of a label that have weight, or all of them without w.
function outermost(p, w, label) {
	const list = [];
	for (let i = 1; i < p.nodes;) {
		if (p.label[i] !== label) {
			i++;
			continue;
		}
		if (!w || w.total[0][i] > 0 || (p.sides === 2 && w.total[1][i] > 0))
			list.push(i);
		i = p.end[i];
	}
	return Int32Array.from(list);
}

class Box {
	constructor(label, parent, items, weights) {
		this.label = label;
		this.parent = parent;
		this.level = parent ? parent.level + 1 : 0;
		this.items = items;
		this.weights = weights; // upward trees: by side and item; null: the items' own
		this.origins = null; // upward trees, by item: its item of the root; -1: several
		this.total = [0, 0];
		this.self = [0, 0];
		this.before = [0, 0]; // weight of the siblings before it, by name
		this.inside = [0, 0]; // weight of all children
		this.kids = null;
		this.cut = Infinity; // children of at least this width are in kids
		this.verdict = undefined; // that of its total, once computed
		this.place = null; // its place in the picture, if any
	}
}

class Tree {
	// up: children are callers. A factor is a pair: how much each side's weight adds to a box's width.
	constructor(p, w, up) {
		this.p = p;
		this.w = w;
		this.up = up;
		this.slot = new Int32Array(p.labels + 1); // group of a label in expand(), plus one; zero between calls
		this.root = null;
	}

	static stacks(p, w) {
		const tree = new Tree(p, w, false);
		tree.root = tree.start(p.labels, Int32Array.of(0), null, w.total);
		return tree;
	}

	static reverse(p, w) {
		const tree = new Tree(p, w, true);
		let n = 0;
		const items = new Int32Array(p.nodes);
		for (let i = 1; i < p.nodes; i++)
			if (w.self[0][i] > 0 || (p.sides === 2 && w.self[1][i] > 0))
				items[n++] = i;
		const kept = items.slice(0, n);
		tree.root = tree.start(p.labels, kept, tree.gather(kept, w.self), null);
		tree.root.leaves = true;
		return tree;
	}

	static callers(p, w, label) {
		const tree = new Tree(p, w, true);
		const items = outermost(p, w, label);
		tree.root = tree.start(label, items, tree.gather(items, w.total), null);
		return tree;
	}

	static callees(p, w, label) {
		const tree = new Tree(p, w, false);
		tree.root = tree.start(label, outermost(p, w, label), null, w.total);
		return tree;
	}

	gather(items, from) {
		return from.map((all) => Float64Array.from(items, (i) => all[i]));
	}

	start(label, items, weights, from) {
		const root = new Box(label, null, items, weights);
		for (let side = 0; side < this.p.sides; side++) {
			for (let i = 0; i < items.length; i++) {
				root.total[side] += weights ? weights[side][i] : from[side][items[i]];
				if (from)
					root.self[side] += this.w.self[side][items[i]];
			}
		}
		return root;
	}

	// Returns the children of a box that are at least cut wide (and the one labelled wanted), by name.
	// before[] and inside[] include the others.
	expand(box, factor, cut, wanted = -1) {
		if (box.kids && box.factor === factor)
			if (wanted < 0 ? box.cut <= cut : box.kids.some((kid) => kid.label === wanted))
				return box.kids;
		const groups = this.up ? this.groupUp(box) : this.groupDown(box);
		const old = new Map((box.kids || []).map((kid) => [kid.label, kid]));
		for (const g of groups) {
			const seen = factor[0] * g.t0 + factor[1] * g.t1 >= cut || g.label === wanted;
			g.kid = old.get(g.label) || (seen ? this.child(box, g) : null);
		}
		this.list(box, groups);
		for (const g of groups)
			this.slot[g.label] = 0;
		if (this.up || box.items.length > 1)
			this.sortByName(groups);
		const kids = [];
		let before0 = 0, before1 = 0;
		for (const g of groups) {
			if (g.kid) {
				g.kid.before = [before0, before1];
				kids.push(g.kid);
			}
			before0 += g.t0;
			before1 += g.t1;
		}
		box.inside = [before0, before1];
		box.count = groups.length;
		if (this.up)
			box.self = [Math.max(0, box.total[0] - before0), Math.max(0, box.total[1] - before1)];
		box.kids = kids;
		box.cut = cut;
		box.factor = factor;
		return kids;
	}

	sortByName(groups) {
		const p = this.p;
		for (const g of groups)
			g.name = p.name(g.label);
		groups.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : p.kind[a.label] - p.kind[b.label]));
	}

	group(groups, label) {
		if (this.slot[label])
			return groups[this.slot[label] - 1];
		const g = { label, t0: 0, t1: 0, s0: 0, s1: 0, items: 0, node: 0, name: '', kid: null, fill: null, n: 0 };
		groups.push(g);
		this.slot[label] = groups.length;
		return g;
	}

	groupDown(box) {
		const { label, end } = this.p, { total, self } = this.w, two = this.p.sides === 2;
		const groups = [];
		for (const item of box.items) {
			for (let c = item + 1; c < end[item]; c = end[c]) {
				if (!(total[0][c] > 0) && !(two && total[1][c] > 0))
					continue;
				const g = this.group(groups, label[c]);
				g.items++;
				g.node = c;
				g.t0 += total[0][c];
				g.s0 += self[0][c];
				if (two) {
					g.t1 += total[1][c];
					g.s1 += self[1][c];
				}
			}
		}
		return groups;
	}

	// Returns the caller of an upward box's item, or 0 if the stack begins there.
	above(box, item) {
		return box.leaves ? item : this.p.parent[item];
	}

	groupUp(box) {
		const { label } = this.p, two = this.p.sides === 2;
		const groups = [];
		for (let i = 0; i < box.items.length; i++) {
			const node = this.above(box, box.items[i]);
			if (node === 0)
				continue;
			const g = this.group(groups, label[node]);
			// Adjacent items in pre-order with the same caller become one.
			if (g.node !== node)
				g.items++;
			g.node = node;
			g.t0 += box.weights[0][i];
			if (two)
				g.t1 += box.weights[1][i];
		}
		return groups;
	}

	child(box, g) {
		const kid = new Box(g.label, box, new Int32Array(g.items), null);
		if (this.up)
			kid.weights = this.p.self.map(() => new Float64Array(g.items));
			kid.origins = new Int32Array(g.items);
		kid.total = [g.t0, g.t1];
		kid.self = [g.s0, g.s1];
		g.fill = kid;
		return kid;
	}

	// Fills in the items of all new children in one pass.
	list(box, groups) {
		const { label, end } = this.p, { total } = this.w, two = this.p.sides === 2;
		if (this.up) {
			for (let i = 0; i < box.items.length; i++) {
				const node = this.above(box, box.items[i]);
				const g = node ? groups[this.slot[label[node]] - 1] : null;
				if (!g || !g.fill)
					continue;
				const { items, weights, origins } = g.fill, origin = box.origins ? box.origins[i] : box.items[i];
				if (g.n === 0 || items[g.n - 1] !== node) {
					origins[g.n] = origin;
					items[g.n++] = node;
				} else if (origins[g.n - 1] !== origin) {
					origins[g.n - 1] = -1;
				}
				weights[0][g.n - 1] += box.weights[0][i];
				if (two)
					weights[1][g.n - 1] += box.weights[1][i];
			}
			return;
		}
		for (const item of box.items) {
			for (let c = item + 1; c < end[item]; c = end[c]) {
				if (!(total[0][c] > 0) && !(two && total[1][c] > 0))
					continue;
				const g = groups[this.slot[label[c]] - 1];
				if (g.fill)
					g.fill.items[g.n++] = c;
			}
		}
	}

	// Returns the box at a path of labels from the root, or the deepest one on the path.
	find(path, factor) {
		let box = this.root;
		for (const label of path) {
			const kid = this.expand(box, factor, Infinity, label).find((k) => k.label === label);
			if (!kid)
				break;
			box = kid;
		}
		return box;
	}
}

function pathOf(box) {
	const path = [];
	for (; box.parent; box = box.parent)
		path.push(box.label);
	return path.reverse();
}
