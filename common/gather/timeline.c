#include "common/gather/timeline.h"

#include <stdlib.h>

#include "common/base/search.h"

/* Gets one entry of the array to be sorted; returns false if it does not take part. */
typedef bool get_moment(const struct capture *c, uint32_t at, uint32_t *frame, struct timeline_moment *m);

static bool place_moment(const struct capture *c, uint32_t at, uint32_t *frame, struct timeline_moment *m)
{
	*frame = c->places[at].frame;
	*m = (struct timeline_moment){ c->places[at].from, 0, at };
	return true;
}

static bool symbol_moment(const struct capture *c, uint32_t at, uint32_t *frame, struct timeline_moment *m)
{
	const struct capture_symbol *s = &c->symbols[at];

	*frame = s->frame;
	*m = (struct timeline_moment){ s->from, name_source_rank(s->source), at };
	return s->level == 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct timeline_moment *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Entries usually come in the order of time; if so, there is nothing to sort. */
static void sort_moments(struct timeline_moment *m, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (compare_times(&m[i - 1], &m[i]) > 0) {
			qsort(m, n, sizeof(*m), compare_times);
			return;
		}
	}
}

static bool build_timeline(struct timeline *t, const struct capture *c, size_t n, get_moment *get)
{
	struct timeline_moment m;
	uint32_t frame;

	t->first = calloc(c->n_frames + 2, sizeof(*t->first));
	t->moments = malloc(n * sizeof(*t->moments));
	if (!t->first || !t->moments)
		return false;
	for (uint32_t at = 1; at < n; at++) {
		if (get(c, at, &frame, &m))
			t->first[frame + 2]++;
	}
	for (size_t f = 2; f < c->n_frames + 2; f++)
		t->first[f] += t->first[f - 1];
	/* first[f + 1] is where f's moments begin, and ends up where they end. */
	for (uint32_t at = 1; at < n; at++) {
		if (get(c, at, &frame, &m))
			t->moments[t->first[frame + 1]++] = m;
	}
	for (size_t f = 0; f < c->n_frames; f++)
		sort_moments(t->moments + t->first[f], t->first[f + 1] - t->first[f]);
	return true;
}

bool timeline_places(struct timeline *t, const struct capture *c)
{
	return build_timeline(t, c, c->n_places, place_moment);
}

bool timeline_symbols(struct timeline *t, const struct capture *c)
{
	return build_timeline(t, c, c->n_symbols, symbol_moment);
}

/* Returns how many of the moments begin no later than the epoch. */
static size_t not_later(const struct timeline_moment *m, size_t n, uint64_t epoch)
{
	return SEARCH_COUNT(n, middle, m[middle].from <= epoch);
}

uint32_t timeline_find(const struct timeline *t, uint32_t frame, uint64_t epoch)
{
	const struct timeline_moment *m = t->moments + t->first[frame];
	size_t n = t->first[frame + 1] - t->first[frame], before;

	if (n == 0)
		return 0;
	before = not_later(m, n, epoch);
	return m[(before ? before : not_later(m, n, m[0].from)) - 1].at;
}

void timeline_release(struct timeline *t)
{
	free(t->first);
	free(t->moments);
	*t = (struct timeline){ 0 };
}
