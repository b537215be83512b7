#include "common/flame/heatmap_data.h"

#include <stdlib.h>

#include "common/base/array.h"

enum { NS = 1000000000 };

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_slice(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	int order = compare(x->slice, y->slice);

	order = order ? order : compare(x->node, y->node);
	order = order ? order : compare(x->origin, y->origin);
	return order ? order : compare(x->whole, y->whole);
}

static int by_begin(const void *a, const void *b)
{
	const struct heatmap_ticks *x = a, *y = b;
	int order = compare(x->slice, y->slice);

	order = order ? order : compare(x->to, y->to);
	return order ? order : compare(x->outcome, y->outcome);
}

static uint64_t last_slice(const struct profile_moment *m)
{
	return (uint64_t)m->slice + (m->whole ? m->whole - 1 : 0);
}

/*
 * The place of a run: slice i of the profile is (base + i) / factor + begin. begin may be negative, as an
 * overflow.
 */
struct place {
	uint64_t base, begin;
};

static uint64_t slice_at(const struct place *place, uint64_t slice, uint64_t factor)
{
	return (place->base + slice) / factor + place->begin;
}

/*
 * Returns the first slice of each run: the one after the last second of the run before. The caller frees it.
 * NULL: out of memory. *slices: the number of all slices, which are factor slices of the profile each.
 */
static uint64_t *begin_runs(const struct profile *p, uint64_t slice_ns, uint64_t factor, uint64_t *slices)
{
	uint64_t *begin = calloc((size_t)p->runs + 1, sizeof(*begin)), at = 0;
	uint64_t per_second = slice_ns < NS ? NS / slice_ns : 1;

	for (size_t i = 0; begin && i < p->n_moments; i++) {
		uint64_t end = last_slice(&p->moments[i]) / factor + 1;

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

		if (begin[run] == 0)
			m->begin_runs[0] = (uint32_t)run;
		if (begin[run] > last && begin[run] < m->slices) {
			begin[m->n_begins++] = begin[run];
			m->begin_runs[m->n_begins] = (uint32_t)run;
		} else if (m->n_begins && begin[run] == last) {
			m->begin_runs[m->n_begins] = (uint32_t)run; /* the run before had no samples */
		}
	}
	m->begins = begin;
}

/* Sorts, and merges equal entries: a node may have several stacks of ids in a slice. */
static size_t merge_equal(struct moment *list, size_t all)
{
	size_t n = 0;

	if (all)
		qsort(list, all, sizeof(*list), by_slice);
	for (size_t i = 0; i < all; i++) {
		if (n && by_slice(&list[n - 1], &list[i]) == 0)
			list[n - 1].weight += list[i].weight;
		else
			list[n++] = list[i];
	}
	return n;
}

/* Lists of moments while they are made. */
struct lists {
	struct heatmap_data *m;
	size_t cap, cap_spans;
	bool failed;
};

static void add_moment(struct lists *l, struct moment moment)
{
	struct heatmap_data *m = l->m;
	bool span = moment.whole > 1;

	if (!moment.weight)
		return;
	if (!(span ? extend_array(&m->spans, &l->cap_spans, m->n_spans, sizeof(*m->spans)) :
		     extend_array(&m->list, &l->cap, m->n, sizeof(*m->list))))
		l->failed = true;
	else if (span)
		m->spans[m->n_spans++] = moment;
	else
		m->list[m->n++] = moment;
}

/*
 * Places all runs by the clock, and sets *slices and the first run. Returns false if the time of a run with
 * samples is unknown, or if slices are not aligned.
 */
static bool place_by_clock(struct heatmap_data *m, const struct profile *p, uint64_t slice_ns,
			   uint64_t factor, struct place *places)
{
	uint64_t first = UINT64_MAX, end = 0;

	for (size_t i = 0; m->origins->aligned && i < p->n_moments; i++) {
		uint64_t start = origins_time(m->origins, p->moments[i].run, 0, slice_ns) / slice_ns;

		if (!start)
			return false;
		places[p->moments[i].run].base = start;
		if (start + p->moments[i].slice < first) {
			first = start + p->moments[i].slice;
			m->begin_runs[0] = p->moments[i].run;
		}
		end = start + last_slice(&p->moments[i]) > end ? start + last_slice(&p->moments[i]) : end;
	}
	if (first > end)
		return false;
	for (size_t run = 0; run < p->runs; run++)
		places[run].begin = -(first / factor);
	m->slices = end / factor - first / factor + 1;
	m->first_ns = first / factor * factor * slice_ns;
	return true;
}

/* Places runs one after the other. Returns false if out of memory. */
static bool place_in_turn(struct heatmap_data *m, const struct profile *p, uint64_t factor,
			  struct place *places)
{
	uint64_t *begin = begin_runs(p, m->slice_ns, factor, &m->slices);

	for (size_t run = 0; begin && run < p->runs; run++)
		places[run] = (struct place){ 0, begin[run] };
	if (begin)
		keep_begins(m, begin, p->runs);
	return begin;
}

/* Returns how much of the moment's weight is in its first n slices. */
static uint64_t weight_until(const struct profile_moment *from, uint64_t n)
{
	return (uint64_t)((unsigned __int128)from->weight * n / (from->whole ? from->whole : 1));
}

/* Adds a moment in slices that are factor times longer: slices that it fills, and the parts at its ends. */
static void add_joined(struct lists *l, const struct profile_moment *from, struct moment moment,
		       const struct place *place, uint64_t factor)
{
	uint64_t n = from->whole ? from->whole : 1, done = 0;

	while (done < n) {
		uint64_t at = place->base + from->slice + done;
		uint64_t whole = (at % factor ? 0 : (n - done) / factor);
		uint64_t upto = whole ? done + whole * factor : done + factor - at % factor;

		upto = upto < n ? upto : n;
		moment.slice = slice_at(place, from->slice + done, factor);
		moment.whole = whole ? whole : 1;
		moment.weight = weight_until(from, upto) - weight_until(from, done);
		add_moment(l, moment);
		done = upto;
	}
}

static void add_ticks(struct lists *l, const struct place *places, uint32_t runs, uint64_t factor)
{
	struct heatmap_data *m = l->m;
	const struct origins *o = m->origins;

	m->ticks = malloc((o->n_ticks + 1) * sizeof(*m->ticks));
	l->failed = l->failed || !m->ticks;
	for (size_t i = 0; m->ticks && i < o->n_ticks; i++) {
		const struct origin_ticks *t = &o->ticks[i];
		struct heatmap_ticks ticks = { .count = t->count, .outcome = t->outcome };

		if (t->run >= runs)
			continue;
		ticks.slice = slice_at(&places[t->run], t->slice, factor);
		ticks.to = slice_at(&places[t->run], t->to, factor);
		if (ticks.slice < m->slices)
			m->ticks[m->n_ticks++] = ticks;
	}
	if (m->n_ticks)
		qsort(m->ticks, m->n_ticks, sizeof(*m->ticks), by_begin);
}

/* Makes the lists with slices that are factor slices of the profile each; returns false if out of memory. */
static bool make_lists(struct heatmap_data *m, const struct flame_tree *t, const uint32_t *places,
		       uint64_t factor)
{
	const struct profile *p = t->p;
	struct place *runs = calloc((size_t)p->runs + 1, sizeof(*runs));
	struct lists l = { .m = m };

	m->begin_runs = calloc((size_t)p->runs + 1, sizeof(*m->begin_runs));
	l.failed = !runs || !m->begin_runs ||
		   (!place_by_clock(m, p, m->slice_ns / factor, factor, runs) &&
		    !place_in_turn(m, p, factor, runs));
	for (size_t i = 0; !l.failed && i < p->n_moments; i++) {
		const struct profile_moment *from = &p->moments[i];

		if (places[from->node])
			add_joined(&l, from,
				   (struct moment){ .node = places[from->node], .origin = from->origin },
				   &runs[from->run], factor);
	}
	m->n = merge_equal(m->list, m->n);
	m->n_spans = merge_equal(m->spans, m->n_spans);
	if (!l.failed)
		add_ticks(&l, runs, p->runs, factor);
	free(runs);
	return !l.failed;
}

bool heatmap_data_init(struct heatmap_data *m, const struct flame_tree *t, const struct origins *origins,
		       uint64_t slice_ns, bool fits)
{
	static const uint64_t factors[] = { 1,	 2,   5,    10,	  25,	 50,	100,
					    250, 500, 1500, 3000, 15000, 30000, 180000 };
	enum { FACTORS = sizeof(factors) / sizeof(factors[0]) };
	uint32_t *places = flame_tree_places(t);
	bool good = places;

	*m = (struct heatmap_data){ 0 };
	for (size_t i = 0; good && i < (fits ? FACTORS : 1); i++) {
		heatmap_data_release(m);
		m->origins = origins;
		m->slice_ns = slice_ns * factors[i];
		good = make_lists(m, t, places, factors[i]);
		if (m->slices <= HEATMAP_SLICES && m->n + m->n_spans <= HEATMAP_MOMENTS)
			break;
	}
	free(places);
	return good;
}

void heatmap_data_release(struct heatmap_data *m)
{
	free(m->list);
	free(m->spans);
	free(m->ticks);
	free(m->begins);
	free(m->begin_runs);
	*m = (struct heatmap_data){ 0 };
}
