#include "common/jit/jitdump.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/intern.h"

enum { REPLAY_SHARE = 64 };

void jitdump_release(struct jitdump *d)
{
	perfmap_release(&d->map);
	intern_release(&d->names);
	free(d->codes);
	*d = (struct jitdump){ 0 };
}

bool jitdump_add(struct jitdump *d, const struct record_jitcode *r)
{
	struct slice name = { r->name.p, r->name.n < PERFMAP_NAME_MAX ? r->name.n : PERFMAP_NAME_MAX };
	struct jitdump_code *c;
	uint32_t id;

	if (r->kind >= JITCODE_CLOSE || r->size == 0 || r->address + r->size < r->address || r->old + r->size < r->old)
		return true;
	if (!grow_array(&d->codes, &d->cap, d->n, sizeof(*d->codes)) || !intern_add(&d->names, name, &id))
		return false;
	c = &d->codes[d->n];
	*c = (struct jitdump_code){ .time = r->time, .start = r->address, .end = r->address + r->size, .order = d->n,
				    .base = r->address, .moved = r->kind == JITCODE_MOVE, .old = r->old };
	if (!c->moved)
		c->name = intern_get(&d->names, id);
	d->n++;
	d->late += r->time < d->now || r->time < d->newest;
	d->news++;
	if (r->time > d->newest)
		d->newest = r->time;
	return true;
}

static struct perfmap_entry entry_of(const struct jitdump_code *c)
{
	return (struct perfmap_entry){ c->start, c->end, c->base, c->name.p, (uint32_t)c->name.n };
}

/* Looks up the name of the code that moves, and removes it from its old place. */
static bool apply_move(struct perfmap *map, struct jitdump_code *c)
{
	struct perfmap_entry both[2] = { { .start = c->old, .end = c->old + (c->end - c->start), .base = c->old } };
	struct perfmap_hit hit;

	c->name = (struct slice){ NULL, 0 };
	c->base = c->start;
	if (perfmap_find(map, c->old, &hit)) {
		c->name = hit.name;
		if (c->old - hit.start <= c->start) /* a part of it */
			c->base = c->start - (c->old - hit.start);
	}
	both[1] = entry_of(c);
	return perfmap_put(map, both, 2);
}

/* Puts codes, in order of time, into the map. Loads go in together, so that each is sorted in once. */
static bool apply_codes(struct perfmap *map, struct jitdump_code *codes, size_t n)
{
	struct perfmap_entry *loads = malloc((n + 1) * sizeof(*loads));
	size_t waiting = 0;
	bool good = loads != NULL;

	for (size_t i = 0; good && i < n; i++) {
		if (!codes[i].moved) {
			loads[waiting++] = entry_of(&codes[i]);
			continue;
		}
		good = perfmap_put(map, loads, waiting) && apply_move(map, &codes[i]);
		waiting = 0;
	}
	good = good && perfmap_put(map, loads, waiting);
	free(loads);
	return good;
}

/* Returns the first code from `at` on that is younger than time. */
static size_t find_younger(const struct jitdump *d, size_t at, uint64_t time)
{
	while (at < d->n && d->codes[at].time <= time)
		at++;
	return at;
}

static bool advance_map(struct jitdump *d, uint64_t time)
{
	size_t from = d->applied;

	d->applied = find_younger(d, from, time);
	return d->applied == from || apply_codes(&d->map, d->codes + from, d->applied - from);
}

int jitdump_find(struct jitdump *d, uint64_t address, uint64_t time, struct perfmap_hit *hit)
{
	if (d->late == 0 && !advance_map(d, time))
		return -1;
	if (time > d->now)
		d->now = time;
	if (perfmap_find(&d->map, address, hit))
		return 1;
	d->unnamed = true;
	return 0;
}

bool jitdump_due(const struct jitdump *d, size_t n_queries, bool last)
{
	if (d->n == 0 || (d->late == 0 && !(d->unnamed && d->news)))
		return false;
	return last || d->news >= (d->n + n_queries) / REPLAY_SHARE;
}

static int by_time(const void *a, const void *b)
{
	const struct jitdump_code *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int queries_by_time(const void *a, const void *b)
{
	const struct jitdump_query *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/*
 * Names queries that have no name as of their time. Goes from the end to the beginning, so that the first
 * later name wins.
 */
static bool look_ahead(struct jitdump *d, struct jitdump_query *queries, size_t n)
{
	struct perfmap map = { 0 };
	struct perfmap_entry *batch = malloc((d->n + 1) * sizeof(*batch));
	size_t at = d->n, waiting = 0;
	bool good = batch != NULL;

	for (size_t i = n; good && i-- > 0;) {
		if (queries[i].hit.name.n)
			continue;
		for (; at > 0 && d->codes[at - 1].time > queries[i].time; at--)
			if (d->codes[at - 1].name.n)
				batch[waiting++] = entry_of(&d->codes[at - 1]);
		good = perfmap_put(&map, batch, waiting);
		waiting = 0;
		if (good)
			d->unnamed |= !perfmap_find(&map, queries[i].address, &queries[i].hit);
	}
	free(batch);
	perfmap_release(&map);
	return good;
}

bool jitdump_replay(struct jitdump *d, struct jitdump_query *queries, size_t n)
{
	if (n)
		qsort(queries, n, sizeof(*queries), queries_by_time);
	if (d->n)
		qsort(d->codes, d->n, sizeof(*d->codes), by_time);
	perfmap_release(&d->map);
	d->applied = d->late = d->news = 0;
	d->unnamed = false;
	for (size_t i = 0; i < n; i++) {
		queries[i].hit = (struct perfmap_hit){ 0 };
		if (!advance_map(d, queries[i].time))
			return false;
		perfmap_find(&d->map, queries[i].address, &queries[i].hit);
	}
	/* Apply the whole history, so that all moves have their names and queries continue from here. */
	if (d->newest > d->now)
		d->now = d->newest;
	return advance_map(d, UINT64_MAX) && look_ahead(d, queries, n);
}
