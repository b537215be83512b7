#include "common/capture/maps.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

/* The first mapping that ends behind address. */
static size_t lower(const struct maps *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->items[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct map *maps_find(const struct maps *s, uint64_t address)
{
	size_t i = lower(s, address);

	return i < s->n && s->items[i].start <= address ? &s->items[i] : NULL;
}

/* Do both give every common address the same place in the same file? */
static bool same_place(const struct map *a, const struct map *b)
{
	return a->file == b->file && a->file != 0 && a->start - a->offset == b->start - b->offset;
}

/*
 * Replaces what lies in [start, end) by put, which has just that range, or by nothing. At most two
 * pieces of old mappings survive, left and right of it.
 */
static bool replace(struct maps *s, uint64_t start, uint64_t end, const struct map *put, bool *changed)
{
	struct map piece[3];
	size_t first = lower(s, start), last = first, n = 0;

	while (last < s->n && s->items[last].start < end) {
		if (!put || !same_place(&s->items[last], put))
			*changed = true;
		last++;
	}
	if (first < last && s->items[first].start < start) {
		piece[n] = s->items[first];
		piece[n++].end = start;
	}
	if (put)
		piece[n++] = *put;
	if (first < last && s->items[last - 1].end > end) {
		piece[n] = s->items[last - 1];
		piece[n].offset += end - piece[n].start;
		piece[n++].start = end;
	}
	if (!grow_array(&s->items, &s->cap, s->n + n, sizeof(*s->items)))
		return false;
	memmove(s->items + first + n, s->items + last, (s->n - last) * sizeof(*s->items));
	memcpy(s->items + first, piece, n * sizeof(*piece));
	s->n = s->n - (last - first) + n;
	return true;
}

bool maps_add(struct maps *s, const struct map *m, bool *changed)
{
	return m->start >= m->end || replace(s, m->start, m->end, m, changed);
}

bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed)
{
	return start >= end || replace(s, start, end, NULL, changed);
}

bool maps_copy(struct maps *s, const struct maps *from)
{
	if (from->n == 0)
		return true;
	if (!grow_array(&s->items, &s->cap, from->n, sizeof(*s->items)))
		return false;
	memcpy(s->items, from->items, from->n * sizeof(*s->items));
	s->n = from->n;
	return true;
}

void maps_release(struct maps *s)
{
	free(s->items);
	*s = (struct maps){ 0 };
}
