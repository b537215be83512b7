/* Checks the list of free extents against a simple model: a byte for each element of an array. */
#include "common/walk/extents.h"
#include "tests/lib/check.h"

enum { SHARD = 256, SHARDS = 4, HELD = 32, GRAIN = 16 };

struct held {
	uint32_t at, n;
	uint64_t since; /* when it was freed; 0: still held */
};

/* Returns whether extents ascend, none touches the next of its shard or is in two, and the sum is right. */
static bool list_is_sound(const struct extents *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->n_free; i++) {
		const struct extent *f = &x->free[i], *next = i + 1 < x->n_free ? f + 1 : NULL;

		sum += f->n;
		if (f->n == 0 || f->at / x->shard != (f->at + f->n - 1) / x->shard)
			return false;
		if (next && (next->at < f->at + f->n ||
			     (next->at == f->at + f->n && next->at / x->shard == f->at / x->shard)))
			return false;
	}
	return sum + x->used == (uint64_t)x->shards * x->shard;
}

/* Returns whether no element is held twice, or both free and held. */
static bool nothing_overlaps(const struct extents *x, const struct held *held, size_t n)
{
	uint8_t owners[SHARD * SHARDS] = { 0 };

	for (size_t i = 0; i < x->n_free; i++)
		for (uint32_t k = 0; k < x->free[i].n; k++)
			owners[x->free[i].at + k]++;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < held[i].n; k++)
			owners[held[i].at + k]++;
	for (size_t i = 0; i < sizeof(owners); i++)
		if (owners[i] > 1)
			return false;
	return true;
}

/* Drops freed extents once their grace is over. */
static size_t reap(struct extents *x, struct held *held, size_t n, uint64_t before)
{
	size_t kept = 0;

	extents_reap(x, before);
	for (size_t i = 0; i < n; i++)
		if (!held[i].since || held[i].since >= before)
			held[kept++] = held[i];
	return kept;
}

/* Returns whether the free list has room for n. */
static bool has_room(const struct extents *x, uint32_t n)
{
	for (size_t i = 0; i < x->n_free; i++)
		if (x->free[i].n >= (n + GRAIN - 1) / GRAIN * GRAIN)
			return true;
	return false;
}

static bool take_one(struct extents *x, struct held *held, size_t *n)
{
	uint32_t want = 1 + (uint32_t)random_below(random_below(4) ? 40 : SHARD), at;
	bool room = has_room(x, want) || (x->shards < SHARDS && extents_grow(x));

	if (extents_take(x, want, &at) != room)
		return false;
	if (room)
		held[(*n)++] = (struct held){ at, want, 0 };
	return !room || at / SHARD == (at + want - 1) / SHARD;
}

static void extents_at_random(void)
{
	struct extents x = { .shard = SHARD };
	struct held held[HELD];
	bool sound = true, apart = true, taken = true;
	size_t n = 0;
	uint32_t at;

	for (uint64_t now = 100; now < 40000; now++) {
		size_t i = n ? random_below(n) : 0;

		if (random_below(2) && n < HELD) {
			taken = taken && take_one(&x, held, &n);
		} else if (n && !held[i].since) {
			extents_give(&x, held[i].at, held[i].n, now);
			held[i].since = now;
		}
		sound = sound && list_is_sound(&x);
		apart = apart && nothing_overlaps(&x, held, n);
		n = reap(&x, held, n, now - 20);
	}
	check(taken, "taken where there is room, never across shards");
	check(sound, "the free list is ascending and without seams");
	check(apart, "nothing is two owners', nothing is free before its time");
	for (size_t i = 0; i < n; i++)
		if (!held[i].since)
			extents_give(&x, held[i].at, held[i].n, 50000);
	extents_reap(&x, 50001);
	check(x.used == 0 && x.n_free == x.shards, "all given back is one piece a shard");
	check(!extents_take(&x, 0, &at) && !extents_take(&x, SHARD + 1, &at),
	      "nothing, or more than a shard, is refused");
	extents_release(&x);
}

int main(void)
{
	extents_at_random();
	return checks_done();
}
