// The samples that the heat map and the lanes highlight: those that the search matches, that the edits leave, and
// that are below the zoomed box or in the function of the sandwich. The others are grey.

// Returns which nodes of page.p are highlighted, or null if all are, at all times. The zoomed box is the one
// that the picture shows: if the range has none of its samples, that is a box above it.
function highlightOf({ p, q, map, matches, view, of, zoomed }) {
	const parts = [];
	if (matches)
		parts.push(maskWith(q, (node) => matches[q.label[node]]));
	if (view === 'sandwich')
		parts.push(...sandwiched(q, of, zoomed));
	else if (zoomed.down.parent && view === 'reverse')
		parts.push(maskOfEnds(q, pathOf(zoomed.down)));
	else if (zoomed.down.parent)
		parts.push(maskBelow(q, followPath(q, [0], pathOf(zoomed.down))));
	if (!map && parts.length === 0)
		return null;
	const mask = new Uint8Array(p.nodes);
	for (let i = 1; i < p.nodes; i++) {
		const node = map ? map[i] : i;
		mask[i] = node >= 0 && parts.every((part) => part[node]);
	}
	return mask.indexOf(0, 1) < 0 ? null : mask;
}

// Returns the nodes that have a wanted one among themselves and their callers.
function maskWith(p, isWanted) {
	const has = new Uint8Array(p.nodes);
	for (let i = 1; i < p.nodes; i++)
		has[i] = has[p.parent[i]] || isWanted(i) ? 1 : 0;
	return has;
}

function maskBelow(p, nodes) {
	const below = new Uint8Array(p.nodes);
	for (const node of nodes)
		below.fill(1, node, p.end[node]);
	return below;
}

// Returns the nodes whose stacks end with these labels, innermost first.
function maskOfEnds(p, path) {
	const ends = new Uint8Array(p.nodes);
	for (let i = 1; i < p.nodes; i++)
		ends[i] = endsWith(p, i, path) ? 1 : 0;
	return ends;
}

// Returns the nodes at the end of a path of labels that begins below any of the given nodes.
function followPath(p, nodes, path) {
	for (const label of path) {
		const next = [];
		for (const node of nodes)
			for (let c = node + 1; c < p.end[node]; c = p.end[c])
				if (p.label[c] === label)
					next.push(c);
		nodes = next;
	}
	return nodes;
}

function sandwiched(p, label, { down, up }) {
	const callers = pathOf(up);
	const nodes = Array.from(outermost(p, null, label)).filter((node) => endsWith(p, p.parent[node], callers));
	return [maskBelow(p, followPath(p, nodes, pathOf(down)))];
}
