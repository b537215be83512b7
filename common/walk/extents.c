#include "common/walk/extents.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/search.h"

enum { GRAIN = 16 }; /* elements: fewer would only get lost between others */

static uint32_t round_up(uint32_t n)
{
	return (n + GRAIN - 1) / GRAIN * GRAIN;
}

void extents_release(struct extents *x)
{
	free(x->free);
	free(x->waiting);
	*x = (struct extents){ .shard = x->shard };
}

/* Returns the first free extent at or after this element. */
static size_t free_from(const struct extents *x, uint32_t at)
{
	return SEARCH_COUNT(x->n_free, mid, x->free[mid].at < at);
}

static void drop_free(struct extents *x, size_t i)
{
	memmove(&x->free[i], &x->free[i + 1], (x->n_free - i - 1) * sizeof(*x->free));
	x->n_free--;
}

static bool are_adjacent(const struct extents *x, const struct extent *a, const struct extent *b)
{
	return a->at + a->n == b->at && a->at / x->shard == b->at / x->shard;
}

static bool add_free(struct extents *x, uint32_t at, uint32_t n)
{
	size_t i = free_from(x, at);

	if (!grow_array(&x->free, &x->cap_free, x->n_free, sizeof(*x->free)))
		return false;
	memmove(&x->free[i + 1], &x->free[i], (x->n_free - i) * sizeof(*x->free));
	x->free[i] = (struct extent){ at, n };
	x->n_free++;
	if (i + 1 < x->n_free && are_adjacent(x, &x->free[i], &x->free[i + 1])) {
		x->free[i].n += x->free[i + 1].n;
		drop_free(x, i + 1);
	}
	if (i > 0 && are_adjacent(x, &x->free[i - 1], &x->free[i])) {
		x->free[i - 1].n += x->free[i].n;
		drop_free(x, i);
	}
	return true;
}

bool extents_grow(struct extents *x)
{
	if (x->shards >= UINT32_MAX / x->shard || !add_free(x, x->shards * x->shard, x->shard))
		return false;
	x->shards++;
	return true;
}

bool extents_take(struct extents *x, uint32_t n, uint32_t *at)
{
	if (n == 0 || n > x->shard)
		return false;
	n = round_up(n);
	for (size_t i = 0; i < x->n_free; i++) {
		struct extent *f = &x->free[i];

		if (f->n < n)
			continue;
		*at = f->at;
		f->at += n;
		f->n -= n;
		if (f->n == 0)
			drop_free(x, i);
		x->used += n;
		return true;
	}
	return false;
}

void extents_give(struct extents *x, uint32_t at, uint32_t n, uint64_t now)
{
	if (n && now == 0 && add_free(x, at, round_up(n)))
		x->used -= round_up(n);
	else if (n && grow_array(&x->waiting, &x->cap_waiting, x->n_waiting, sizeof(*x->waiting)))
		x->waiting[x->n_waiting++] = (struct extent_wait){ { at, round_up(n) }, now };
}

void extents_reap(struct extents *x, uint64_t before)
{
	size_t done = 0;

	while (done < x->n_waiting && x->waiting[done].since < before &&
	       add_free(x, x->waiting[done].extent.at, x->waiting[done].extent.n))
		x->used -= x->waiting[done++].extent.n;
	if (done == 0)
		return;
	memmove(x->waiting, x->waiting + done, (x->n_waiting - done) * sizeof(*x->waiting));
	x->n_waiting -= done;
}
