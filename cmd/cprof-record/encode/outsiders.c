#include "cmd/cprof-record/encode/outsiders.h"

#include <stdlib.h>

#include "common/base/search.h"

enum { OUTSIDERS_LEAST = 256 };

static struct outsider *outsider_at(const struct outsiders *o, size_t number)
{
	return &o->items[number & (o->cap - 1)];
}

void outsiders_release(struct outsiders *o)
{
	free(o->items);
	*o = (struct outsiders){ 0 };
}

/* Makes the ring larger, if it may be. Returns false if it stays as it is. */
static bool make_larger(struct outsiders *o)
{
	size_t cap = o->cap ? 2 * o->cap : OUTSIDERS_LEAST;
	struct outsider *items = cap <= OUTSIDERS_MOST ? calloc(cap, sizeof(*items)) : NULL;

	if (!items)
		return false;
	for (size_t i = o->first; i != o->end; i++)
		items[i & (cap - 1)] = *outsider_at(o, i);
	free(o->items);
	o->items = items;
	o->cap = cap;
	return true;
}

void outsiders_put(struct outsiders *o, const struct sample_head *s)
{
	while (o->first != o->end && outsider_at(o, o->first)->time + OUTSIDERS_NS < s->time)
		o->first++;
	if (o->end - o->first == o->cap && !make_larger(o)) {
		if (!o->cap)
			return;
		o->first++;
	}
	*outsider_at(o, o->end++) = (struct outsider){ s->time, s->cgroup, s->cpu, s->pid, s->tid, false };
}

size_t outsiders_find(const struct outsiders *o, uint64_t from)
{
	size_t n = o->end - o->first;

	return o->first + SEARCH_COUNT(n, at, outsider_at(o, o->first + at)->time < from);
}

const struct outsider *outsiders_next(struct outsiders *o, size_t *at, uint32_t cpu, uint64_t to)
{
	while (*at != o->end && outsider_at(o, *at)->time < to) {
		struct outsider *s = outsider_at(o, (*at)++);

		if (s->cpu == cpu && !s->taken) {
			s->taken = true;
			return s;
		}
	}
	return NULL;
}
