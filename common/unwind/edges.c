#include "common/unwind/edges.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/radix.h"

/*
 * A sweep over the file: at each offset the best of the spans that contain it wins. Spans that have begun are
 * in a heap, the best on top; a span that has ended is dropped when it gets there. The heap nearly always has
 * one element.
 */
struct sweep {
	const struct spans *s;
	uint32_t *heap;
	size_t n, cap;
};

static bool is_better(const struct spans *s, uint32_t a, uint32_t b)
{
	return s->items[a].source != s->items[b].source ? s->items[a].source < s->items[b].source : a < b;
}

static bool sweep_push(struct sweep *w, uint32_t span)
{
	size_t at = w->n;

	if (!grow_array(&w->heap, &w->cap, w->n, sizeof(*w->heap)))
		return false;
	for (w->n++; at > 0 && is_better(w->s, span, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
		w->heap[at] = w->heap[(at - 1) / 2];
	w->heap[at] = span;
	return true;
}

static void sweep_pop(struct sweep *w)
{
	uint32_t last = w->heap[--w->n];
	size_t at = 0, child;

	while ((child = at * 2 + 1) < w->n) {
		if (child + 1 < w->n && is_better(w->s, w->heap[child + 1], w->heap[child]))
			child++;
		if (!is_better(w->s, w->heap[child], last))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = last;
}

static bool add_edge(struct edges *e, uint64_t start, uint32_t rule)
{
	if (e->n && e->items[e->n - 1].rule == rule)
		return true;
	if (!extend_array(&e->items, &e->cap, e->n, sizeof(*e->items)))
		return false;
	e->items[e->n++] = (struct edge){ (uint32_t)(start - e->base), rule };
	return true;
}

/* Returns how many bytes may keep the last edge's rule. Code that was read and got no rule keeps none. */
static uint64_t fillable(const struct edges *e, const struct spans *s)
{
	return e->n && unwind_from_code(&s->rules[e->items[e->n - 1].rule]) ? 0 : GAP_FILLED;
}

/* order: the spans sorted by start. */
static bool run_sweep(struct edges *e, struct sweep *w, const uint32_t *order)
{
	const struct span *items = w->s->items;
	uint64_t at = e->base;
	size_t i = 0;

	for (;;) {
		while (w->n && span_end(&items[w->heap[0]]) <= at)
			sweep_pop(w);
		if (!w->n) {
			if (i == w->s->n)
				return add_edge(e, at, EDGE_GAP);
			if (items[order[i]].start - at > fillable(e, w->s) && !add_edge(e, at, EDGE_GAP))
				return false;
			at = items[order[i]].start;
		}
		for (; i < w->s->n && items[order[i]].start <= at; i++) {
			if (!sweep_push(w, order[i]))
				return false;
		}
		while (span_end(&items[w->heap[0]]) <= at)
			sweep_pop(w);
		if (!add_edge(e, at, items[w->heap[0]].rule))
			return false;
		at = span_end(&items[w->heap[0]]);
		if (i < w->s->n && items[order[i]].start < at)
			at = items[order[i]].start;
	}
}

/* Consecutive spans, in the order in which they were added: usually some functions. */
struct group {
	uint32_t first, n;
};

static bool begins_group(const struct spans *s, size_t i)
{
	return i == 0 || s->items[i].start - span_end(&s->items[i - 1]) > GAP_FILLED;
}

static size_t count_groups(const struct spans *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += begins_group(s, i);
	return n;
}

static void find_groups(const struct spans *s, struct group *groups)
{
	for (size_t i = 0; i < s->n; i++) {
		if (begins_group(s, i))
			*groups++ = (struct group){ (uint32_t)i, 1 };
		else
			groups[-1].n++;
	}
}

/* One item to sort: the offset from the base, then an index. */
static uint64_t sort_key(const struct edges *e, const struct span *span, size_t i)
{
	return (span->start - e->base) << 32 | i;
}

/*
 * Writes the order. Few groups overlap: those of code in gaps, which gap_spans and gap_code_spans may both
 * know. So each span is inserted after the last one that does not begin later. Returns false if that takes too
 * long.
 */
static bool order_groups(const struct spans *s, const struct group *groups, const uint64_t *sorted, size_t n,
			 uint32_t *order)
{
	size_t done = 0, left = s->n;

	for (size_t i = 0; i < n; i++) {
		const struct group *g = &groups[(uint32_t)sorted[i]];

		for (uint32_t span = g->first; span < g->first + g->n; span++) {
			size_t at = done++;

			for (; at > 0 && s->items[order[at - 1]].start > s->items[span].start; at--) {
				if (left-- == 0)
					return false;
				order[at] = order[at - 1];
			}
			order[at] = span;
		}
	}
	return true;
}

/* Sorts groups, since there are a tenth as many. Returns UNWIND_TOO_LARGE if too many of them overlap. */
static enum unwind_built order_by_groups(const struct edges *e, const struct spans *s, uint32_t *order)
{
	size_t n = count_groups(s);
	uint64_t *keys = malloc((n + 1) * 2 * sizeof(*keys));
	struct group *groups = malloc((n + 1) * sizeof(*groups));
	enum unwind_built result = UNWIND_NO_MEMORY;
	const uint64_t *sorted;

	if (keys && groups) {
		find_groups(s, groups);
		for (size_t i = 0; i < n; i++)
			keys[i] = sort_key(e, &s->items[groups[i].first], i);
		sorted = radix_sort_high(keys, keys + n + 1, n);
		result = order_groups(s, groups, sorted, n, order) ? UNWIND_BUILT : UNWIND_TOO_LARGE;
	}
	free(keys);
	free(groups);
	return result;
}

/* Sorts the spans by start. Returns false if out of memory. */
static bool order_spans(const struct edges *e, const struct spans *s, uint32_t *order)
{
	enum unwind_built result = order_by_groups(e, s, order);
	const uint64_t *sorted;
	uint64_t *keys;

	if (result != UNWIND_TOO_LARGE)
		return result == UNWIND_BUILT;
	keys = malloc((s->n + 1) * 2 * sizeof(*keys));
	if (!keys)
		return false;
	for (size_t i = 0; i < s->n; i++)
		keys[i] = sort_key(e, &s->items[i], i);
	sorted = radix_sort_high(keys, keys + s->n + 1, s->n);
	for (size_t i = 0; i < s->n; i++)
		order[i] = (uint32_t)sorted[i];
	free(keys);
	return true;
}

/* Finds the start of all spans, rounded down to a page. Returns false if they do not fit into a table. */
static bool find_base(struct edges *e, const struct spans *s)
{
	uint64_t first = s->n ? UINT64_MAX : 0, end = 0;

	for (size_t i = 0; i < s->n; i++) {
		first = s->items[i].start < first ? s->items[i].start : first;
		end = span_end(&s->items[i]) > end ? span_end(&s->items[i]) : end;
	}
	e->base = first >> UNWIND_PAGE_SHIFT << UNWIND_PAGE_SHIFT;
	return end - e->base <= UINT32_MAX;
}

enum unwind_built edges_of_spans(struct edges *e, const struct spans *s)
{
	struct sweep w = { .s = s };
	uint32_t *order;
	bool good;

	e->n = 0;
	if (!find_base(e, s))
		return UNWIND_TOO_LARGE;
	order = malloc((s->n + 1) * sizeof(*order));
	good = order && order_spans(e, s, order) && run_sweep(e, &w, order);
	free(order);
	free(w.heap);
	return good ? UNWIND_BUILT : UNWIND_NO_MEMORY;
}

void edges_release(struct edges *e)
{
	free(e->items);
	*e = (struct edges){ 0 };
}
