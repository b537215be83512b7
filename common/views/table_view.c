#include "common/views/table_view.h"

#include <stdlib.h>

static void add_sides(uint64_t *to, const uint64_t *weight)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		to[side] += weight[side];
}

/* State of a walk over the tree: open counts how often each name is on the path to the node. */
struct walk {
	struct table *t;
	const struct profile *p;
	const profile_weight *below;
	uint32_t *open;
};

static void open_name(void *context, uint32_t at)
{
	const struct walk *w = context;
	const struct profile_node *node = &w->p->nodes[at];
	struct table_row *row = &w->t->rows[node->label];

	add_sides(row->flat, node->self);
	if (node->parent == 0)
		add_sides(row->cum, node->self);
	else if (w->open[node->label]++ == 0)
		add_sides(row->cum, w->below[at]);
}

static void close_name(void *context, uint32_t at)
{
	const struct walk *w = context;

	if (w->p->nodes[at].parent != 0)
		w->open[w->p->nodes[at].label]--;
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
		profile_walk(p, open_name, close_name, &(struct walk){ t, p, below, open });
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

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	return slice_compare(profile_text(p, x->label), profile_text(p, y->label));
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
