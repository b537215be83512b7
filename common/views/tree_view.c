#include "common/views/tree_view.h"

#include <stdlib.h>

#include "common/base/array.h"

static int compare_children(const void *a, const void *b, void *context)
{
	const uint32_t *x = a, *y = b;
	const struct tree *t = context;
	struct slice s = profile_text(t->p, t->p->nodes[*x].label), u = profile_text(t->p, t->p->nodes[*y].label);
	int differ;

	if (t->totals[*x][0] != t->totals[*y][0])
		return t->totals[*x][0] > t->totals[*y][0] ? -1 : 1;
	differ = memcmp(s.p, u.p, s.n < u.n ? s.n : u.n);
	return differ ? differ : s.n < u.n ? -1 : s.n > u.n;
}

/* Makes the node's children the next lines. */
static bool open_node(struct tree *t, uint32_t node)
{
	struct tree_level level = { .parent = node, .next = t->n };

	if (t->depth && t->n_levels >= t->depth)
		return true;
	level.rest = (struct tree_line){ .node = node, .depth = (uint32_t)t->n_levels };
	for (uint32_t at = t->p->nodes[node].first; at; at = t->p->nodes[at].next) {
		if (t->totals[at][0] == 0)
			continue;
		if (t->totals[at][0] < t->least) {
			level.rest.more++;
			level.rest.self += t->p->nodes[at].self[0];
			level.rest.total += t->totals[at][0];
			continue;
		}
		if (!grow_array(&t->nodes, &t->cap, t->n, sizeof(*t->nodes)))
			return false;
		t->nodes[t->n++] = at;
	}
	level.end = t->n;
	if (level.end > level.next)
		qsort_r(t->nodes + level.next, level.end - level.next, sizeof(*t->nodes), compare_children,
			t);
	if (!grow_array(&t->levels, &t->cap_levels, t->n_levels, sizeof(*t->levels)))
		return false;
	t->levels[t->n_levels++] = level;
	return true;
}

bool tree_init(struct tree *t, const struct profile *p, uint64_t least, uint32_t depth)
{
	*t = (struct tree){ .p = p, .least = least, .depth = depth, .totals = profile_below(p) };
	return t->totals && open_node(t, 0);
}

bool tree_next(struct tree *t, struct tree_line *line)
{
	while (t->n_levels && !t->failed) {
		struct tree_level *level = &t->levels[t->n_levels - 1];

		if (level->next < level->end) {
			uint32_t node = t->nodes[level->next++];

			*line = (struct tree_line){ .node = node, .depth = (uint32_t)t->n_levels - 1,
						    .self = t->p->nodes[node].self[0], .total = t->totals[node][0] };
			t->failed = !open_node(t, node);
			return true;
		}
		if (level->rest.more) {
			*line = level->rest;
			level->rest.more = 0;
			return true;
		}
		t->n_levels--;
		t->n = t->n_levels ? t->levels[t->n_levels - 1].end : 0;
	}
	return false;
}

void tree_release(struct tree *t)
{
	free(t->totals);
	free(t->nodes);
	free(t->levels);
	*t = (struct tree){ 0 };
}
