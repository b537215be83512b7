#include "common/flame/heatmap_data.h"

#include <stdlib.h>

enum { NS = 1000000000 };

static int by_slice(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/*
 * Returns the first slice of each run: the one after the last second of the run before. The caller frees it.
 * NULL: out of memory. *slices: the number of all slices.
 */
static uint64_t *begin_runs(const struct profile *p, uint64_t per_second, uint64_t *slices)
{
	uint64_t *begin = calloc((size_t)p->runs + 1, sizeof(*begin)), at = 0;

	for (size_t i = 0; begin && i < p->n_moments; i++) {
		uint64_t end = (uint64_t)p->moments[i].slice + 1;

		if (begin[p->moments[i].run] < end)
			begin[p->moments[i].run] = end;
	}
	for (size_t run = 0; begin && run < p->runs; run++) {
		uint64_t length = (begin[run] + per_second - 1) / per_second * per_second;

		begin[run] = at;
		at += length;
	}
	*slices = at;
	return begin;
}

/* Keeps the beginnings of runs that have samples; other runs take no time. Reuses the array for them. */
static void keep_begins(struct heatmap_data *m, uint64_t *begin, size_t runs)
{
	for (size_t run = 0; run < runs; run++) {
		uint64_t last = m->n_begins ? begin[m->n_begins - 1] : 0;

		if (begin[run] > last && begin[run] < m->slices)
			begin[m->n_begins++] = begin[run];
	}
	m->begins = begin;
}

/* Merges equal entries: a node may have several stacks of ids in a slice. */
static void merge_equal(struct heatmap_data *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (n && by_slice(&m->list[n - 1], &m->list[i]) == 0)
			m->list[n - 1].weight += m->list[i].weight;
		else
			m->list[n++] = m->list[i];
	}
	m->n = n;
}

bool heatmap_data_init(struct heatmap_data *m, const struct flame_tree *t, uint64_t slice_ns)
{
	const struct profile *p = t->p;
	uint32_t *places = flame_tree_places(t);
	uint64_t *begin;

	*m = (struct heatmap_data){ .slice_ns = slice_ns, .list = malloc((p->n_moments + 1) * sizeof(*m->list)) };
	begin = begin_runs(p, NS / slice_ns, &m->slices);
	for (size_t i = 0; places && begin && m->list && i < p->n_moments; i++) {
		const struct profile_moment *from = &p->moments[i];

		if (places[from->node] && from->weight)
			m->list[m->n++] = (struct moment){ begin[from->run] + from->slice, places[from->node], from->weight };
	}
	if (m->list && m->n) {
		qsort(m->list, m->n, sizeof(*m->list), by_slice);
		merge_equal(m);
	}
	if (begin)
		keep_begins(m, begin, p->runs);
	free(places);
	return places && begin && m->list;
}

void heatmap_data_release(struct heatmap_data *m)
{
	free(m->list);
	free(m->begins);
	*m = (struct heatmap_data){ 0 };
}
