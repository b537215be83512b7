#include "common/profile/table.h"

#include <stdlib.h>

static void add(uint64_t *to, const uint64_t *weight)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		to[side] += weight[side];
}

static void enter(struct table *t, const struct profile *p, const profile_weight *below, uint32_t *open, uint32_t at)
{
	const struct profile_node *node = &p->nodes[at];
	struct table_row *row = &t->rows[node->label];

	add(row->flat, node->self);
	if (node->parent == 0)
		add(row->cum, node->self);
	else if (open[node->label]++ == 0)
		add(row->cum, below[at]);
}

static void leave(const struct profile *p, uint32_t *open, uint32_t at)
{
	if (p->nodes[at].parent != 0)
		open[p->nodes[at].label]--;
}

/* Walks the tree by its links; open counts how often each name stands on the way to the node. */
static void walk(struct table *t, const struct profile *p, const profile_weight *below, uint32_t *open)
{
	uint32_t at = p->nodes[0].first;

	while (at) {
		enter(t, p, below, open, at);
		if (p->nodes[at].first) {
			at = p->nodes[at].first;
			continue;
		}
		leave(p, open, at);
		while (at && !p->nodes[at].next) {
			at = p->nodes[at].parent;
			if (at)
				leave(p, open, at);
		}
		at = p->nodes[at].next;
	}
}

bool table_init(struct table *t, const struct profile *p)
{
	profile_weight *below = profile_below(p);
	uint32_t *open = calloc(p->labels.n, sizeof(*open));
	size_t n = 0;

	*t = (struct table){ .rows = calloc(p->labels.n, sizeof(*t->rows)) };
	if (below && open && t->rows) {
		for (size_t i = 0; i < p->labels.n; i++)
			t->rows[i].label = (uint32_t)i;
		walk(t, p, below, open);
		for (size_t i = 0; i < p->labels.n; i++) {
			if (t->rows[i].cum[0] || t->rows[i].cum[1])
				t->rows[n++] = t->rows[i];
		}
		t->n = n;
	}
	free(below);
	free(open);
	return below && open && t->rows;
}

static int by_key(const void *a, const void *b, void *context)
{
	const struct table_row *x = a, *y = b;
	const struct profile *p = context;
	struct slice s = profile_text(p, x->label), t = profile_text(p, y->label);
	int differ;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	differ = memcmp(s.p, t.p, s.n < t.n ? s.n : t.n);
	return differ ? differ : s.n < t.n ? -1 : s.n > t.n;
}

void table_sort(struct table *t, const struct profile *p)
{
	qsort_r(t->rows, t->n, sizeof(*t->rows), by_key, (void *)p);
}

void table_release(struct table *t)
{
	free(t->rows);
	*t = (struct table){ 0 };
}
