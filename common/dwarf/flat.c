#include "common/dwarf/flat.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/search.h"

static int piece_compare(const void *a, const void *b)
{
	const struct flat_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The pieces that cover the sweep's current address, the one of the last node on top. */
struct heap {
	struct flat_piece *items;
	size_t n;
};

static void heap_push(struct heap *h, struct flat_piece piece)
{
	size_t at = h->n++;

	while (at && h->items[(at - 1) / 2].node < piece.node) {
		h->items[at] = h->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h->items[at] = piece;
}

static void heap_pop(struct heap *h)
{
	struct flat_piece last = h->items[--h->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && h->items[child + 1].node > h->items[child].node)
			child++;
		if (h->items[child].node <= last.node)
			break;
		h->items[at] = h->items[child];
		at = child;
	}
	h->items[at] = last;
}

static bool put_interval(struct flat *f, uint64_t start, uint32_t node)
{
	if (f->n_intervals && f->intervals[f->n_intervals - 1].node == node)
		return true;
	if (!grow_array(&f->intervals, &f->cap_intervals, f->n_intervals, sizeof(*f->intervals)))
		return false;
	f->intervals[f->n_intervals++] = (struct flat_interval){ start, node };
	return true;
}

static bool sweep_pieces(struct flat *f, struct heap *h, const struct flat_piece *pieces, size_t n)
{
	uint64_t at = 0;
	size_t i = 0;

	while (i < n || h->n) {
		if (h->n == 0)
			at = pieces[i].start;
		while (i < n && pieces[i].start <= at)
			heap_push(h, pieces[i++]);
		while (h->n && h->items[0].end <= at)
			heap_pop(h);
		if (!put_interval(f, at, h->n ? h->items[0].node : NODE_NONE))
			return false;
		if (h->n)
			at = i < n && pieces[i].start < h->items[0].end ? pieces[i].start : h->items[0].end;
	}
	return true;
}

bool flat_settle(struct flat *f, struct flat_piece *pieces, size_t n)
{
	struct heap h = { 0 };
	bool good;

	if (n == 0)
		return true;
	h.items = malloc(n * sizeof(*h.items));
	if (!h.items)
		return false;
	qsort(pieces, n, sizeof(*pieces), piece_compare);
	good = sweep_pieces(f, &h, pieces, n);
	free(h.items);
	return good;
}

uint32_t flat_node_at(const struct flat *f, uint64_t address)
{
	size_t low = SEARCH_COUNT(f->n_intervals, middle, f->intervals[middle].start <= address);

	return low ? f->intervals[low - 1].node : NODE_NONE;
}

const struct line_row *flat_row_at(const struct flat *f, uint64_t address)
{
	size_t low = SEARCH_COUNT(f->n_rows, middle, f->rows[middle].start <= address);

	return low && f->rows[low - 1].file != ROW_GAP ? &f->rows[low - 1] : NULL;
}

size_t flat_bytes(const struct flat *f)
{
	return sizeof(*f) + f->cap_nodes * sizeof(*f->nodes) + f->cap_intervals * sizeof(*f->intervals) +
	       f->n_rows * sizeof(*f->rows);
}

void flat_free(struct flat *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->intervals);
	free(f->rows);
	free(f);
}
