#include "common/base/textsort.h"

#include <endian.h>
#include <stdlib.h>

/*
 * Multikey quicksort (Bentley and Sedgewick, SODA 1997) with eight bytes as the key. The key is stored beside
 * the text's id, so that partitioning reads no text.
 */
enum { FEW = 12, KEY = sizeof(uint64_t) };

struct part {
	struct text_item *items;
	size_t n, depth; /* depth: length in bytes of the prefix that all texts share */
	unsigned int patience; /* lopsided splits left before qsort takes over: no input is quadratic */
};

/* Returns the eight bytes at depth, zero-padded, as a number that compares as the bytes do. */
static uint64_t key_of(struct slice s, size_t depth)
{
	uint64_t key = 0;

	if (s.n >= depth + KEY)
		memcpy(&key, s.p + depth, KEY);
	else if (s.n > depth)
		memcpy(&key, s.p + depth, s.n - depth);
	return be64toh(key);
}

static void load_keys(const struct slice *texts, const struct part *a)
{
	for (size_t i = 0; i < a->n; i++)
		a->items[i].key = key_of(texts[a->items[i].id], a->depth);
}

static struct slice skip_prefix(struct slice s, size_t depth)
{
	return depth < s.n ? (struct slice){ s.p + depth, s.n - depth } : (struct slice){ s.p, 0 };
}

static void sort_few(const struct slice *texts, const struct part *a)
{
	for (size_t i = 1; i < a->n; i++) {
		struct text_item moving = a->items[i];
		struct slice text = skip_prefix(texts[moving.id], a->depth);
		size_t at = i;

		for (; at > 0; at--) {
			const struct text_item *before = &a->items[at - 1];

			if (before->key < moving.key || (before->key == moving.key &&
							 slice_compare(skip_prefix(texts[before->id], a->depth), text) <= 0))
				break;
			a->items[at] = *before;
		}
		a->items[at] = moving;
	}
}

static int by_text(const void *a, const void *b, void *context)
{
	const struct text_item *x = a, *y = b;
	const struct slice *texts = context;

	return slice_compare(texts[x->id], texts[y->id]);
}

static uint64_t median_of(uint64_t a, uint64_t b, uint64_t c)
{
	return a < b ? b < c ? b : a < c ? c : a : a < c ? a : b < c ? c : b;
}

static uint64_t pivot_of(const struct part *a)
{
	const struct text_item *p = a->items;
	size_t step = a->n / 9;

	return median_of(median_of(p[0].key, p[step].key, p[2 * step].key),
		      median_of(p[3 * step].key, p[4 * step].key, p[5 * step].key),
		      median_of(p[6 * step].key, p[7 * step].key, p[a->n - 1].key));
}

/* Partitions into keys below the pivot, keys equal to it from *first on, and keys above it from *end on. */
static void partition(const struct part *a, uint64_t pivot, size_t *first, size_t *end)
{
	size_t low = 0, high = a->n;

	for (size_t i = 0; i < high;) {
		struct text_item it = a->items[i];

		if (it.key < pivot) {
			a->items[i++] = a->items[low];
			a->items[low++] = it;
		} else if (it.key > pivot) {
			a->items[i] = a->items[--high];
			a->items[high] = it;
		} else {
			i++;
		}
	}
	*first = low;
	*end = high;
}

static void swap(struct part *a, struct part *b)
{
	struct part c = *a;

	*a = *b;
	*b = c;
}

/* Recurses into the two smaller parts only, so the recursion is never deep. */
static void sort_part(const struct slice *texts, struct part a)
{
	while (a.n > FEW) {
		uint64_t pivot = pivot_of(&a);
		struct part below = a, same = a, above = a;
		size_t first, end;

		if (a.patience == 0) {
			qsort_r(a.items, a.n, sizeof(*a.items), by_text, (void *)texts);
			return;
		}
		partition(&a, pivot, &first, &end);
		below.n = first;
		same = (struct part){ a.items + first, end - first, a.depth + KEY, a.patience };
		above.items += end;
		above.n -= end;
		below.patience -= first > a.n - a.n / 8;
		above.patience -= above.n > a.n - a.n / 8;
		if (pivot & 0xff)
			load_keys(texts, &same);
		else
			same.n = 0; /* the key ends in a zero byte: these texts have ended and are equal */
		if (below.n > same.n)
			swap(&below, &same);
		if (above.n > same.n)
			swap(&above, &same);
		sort_part(texts, below);
		sort_part(texts, above);
		a = same;
	}
	sort_few(texts, &a);
}

void text_sort(const struct slice *texts, struct text_item *items, size_t n)
{
	struct part all = { items, n, 0, 64 };

	load_keys(texts, &all);
	sort_part(texts, all);
}
