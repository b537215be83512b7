#include "common/blame/chain.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/search.h"

void chain_init(struct chain *c)
{
	*c = (struct chain){ 0 };
	idmap_init(&c->children);
}

void chain_release(struct chain *c)
{
	free(c->waits);
	free(c->parts);
	free(c->since);
	free(c->first_wait);
	free(c->first_part);
	free(c->links);
	idmap_release(&c->children);
	*c = (struct chain){ 0 };
}

static void note_thread(struct chain *c, uint32_t thread)
{
	if (thread != CHAIN_NO_THREAD && thread >= c->n_threads)
		c->n_threads = thread + 1;
}

void chain_wait(struct chain *c, const struct chain_wait *w)
{
	if (!grow_array(&c->waits, &c->cap_waits, c->n_waits, sizeof(*c->waits))) {
		c->failed = true;
		return;
	}
	c->waits[c->n_waits++] = *w;
	note_thread(c, w->thread);
	note_thread(c, w->waker);
}

void chain_part(struct chain *c, const struct chain_part *p)
{
	if (!grow_array(&c->parts, &c->cap_parts, c->n_parts, sizeof(*c->parts))) {
		c->failed = true;
		return;
	}
	c->parts[c->n_parts++] = *p;
	note_thread(c, p->thread);
}

void chain_since(struct chain *c, uint32_t thread, uint64_t time)
{
	if (!grow_array(&c->since, &c->cap_since, thread, sizeof(*c->since)))
		c->failed = true;
	else if (time && (!c->since[thread] || time < c->since[thread]))
		c->since[thread] = time;
	note_thread(c, thread);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_waits(const void *a, const void *b)
{
	const struct chain_wait *x = a, *y = b;
	int by_thread = compare(x->thread, y->thread);

	return by_thread ? by_thread : x->on != y->on ? compare(x->on, y->on) : compare(x->start, y->start);
}

static int compare_parts(const void *a, const void *b)
{
	const struct chain_part *x = a, *y = b;
	int by_thread = compare(x->thread, y->thread);

	return by_thread	    ? by_thread
	       : x->time != y->time ? compare(x->time, y->time)
				    : compare(x->place, y->place);
}

void chain_sort(struct chain *c)
{
	size_t wait = 0, part = 0;

	if (c->n_waits)
		qsort(c->waits, c->n_waits, sizeof(*c->waits), compare_waits);
	if (c->n_parts)
		qsort(c->parts, c->n_parts, sizeof(*c->parts), compare_parts);
	c->first_wait = calloc((size_t)c->n_threads + 1, sizeof(*c->first_wait));
	c->first_part = calloc((size_t)c->n_threads + 1, sizeof(*c->first_part));
	if (!c->first_wait || !c->first_part) {
		c->failed = true;
		return;
	}
	for (uint32_t t = 0; t <= c->n_threads; t++) {
		while (wait < c->n_waits && c->waits[wait].thread < t)
			wait++;
		while (part < c->n_parts && c->parts[part].thread < t)
			part++;
		c->first_wait[t] = wait;
		c->first_part[t] = part;
	}
}

/* Returns the link of this kind below its parent; UINT32_MAX if out of memory. */
static uint32_t find_link(struct chain *c, uint32_t parent, enum chain_kind kind, uint32_t what)
{
	uint64_t key = (uint64_t)parent << 36 | (uint64_t)kind << 32 | what;
	uint32_t at;

	if (kind == CHAIN_ROOT)
		parent = (uint32_t)c->n_links;
	if (idmap_find(&c->children, key, &at))
		return at;
	at = (uint32_t)c->n_links;
	if (c->n_links >= 1 << 28 || !grow_array(&c->links, &c->cap_links, c->n_links, sizeof(*c->links)) ||
	    !idmap_set(&c->children, key, at)) {
		c->failed = true;
		return UINT32_MAX;
	}
	c->links[c->n_links++] = (struct chain_link){
		.parent = parent,
		.what = what,
		.kind = (uint8_t)kind,
		.root = kind == CHAIN_ROOT ? at : c->links[parent].root,
	};
	return at;
}

static void add_leaf(struct chain *c, uint32_t parent, enum chain_kind kind, uint32_t what, uint64_t ns)
{
	uint32_t at = ns ? find_link(c, parent, kind, what) : UINT32_MAX;

	if (at != UINT32_MAX)
		c->links[at].ns += ns;
}

/* Returns the first wait of the thread that ends after this time. */
static size_t find_wait(const struct chain *c, uint32_t thread, uint64_t time)
{
	size_t first = c->first_wait[thread];

	return first + SEARCH_COUNT(c->first_wait[thread + 1] - first, i, c->waits[first + i].on <= time);
}

/* Likewise the first part. */
static size_t find_part(const struct chain *c, uint32_t thread, uint64_t time)
{
	size_t first = c->first_part[thread];

	return first + SEARCH_COUNT(c->first_part[thread + 1] - first, i, c->parts[first + i].time <= time);
}

/* The thread ran in (from, to], or waited shortly: collects its parts there, which share such time later. */
static void add_gap(struct chain *c, uint32_t above, uint32_t thread, uint64_t from, uint64_t to)
{
	uint32_t ran = from < to ? find_link(c, above, CHAIN_RAN, thread) : UINT32_MAX;

	if (ran == UINT32_MAX)
		return;
	c->links[ran].ns += to - from;
	for (size_t i = find_part(c, thread, from); i < c->first_part[thread + 1] && c->parts[i].time <= to;
	     i++)
		add_leaf(c, ran, c->parts[i].waits ? CHAIN_SHORT : CHAIN_PART, c->parts[i].place,
			 c->parts[i].weight);
}

static uint64_t clamp(uint64_t time, uint64_t from, uint64_t to)
{
	return time < from ? from : time > to ? to : time;
}

static uint64_t thread_since(const struct chain *c, uint32_t thread)
{
	return thread < c->cap_since ? c->since[thread] : 0;
}

static bool is_recorded(const struct chain *c, uint32_t thread)
{
	return c->first_wait[thread] < c->first_wait[thread + 1] || thread_since(c, thread);
}

static void explain_thread(struct chain *c, uint32_t above, uint32_t thread, uint64_t from, uint64_t to,
			   int depth);

static void explain_sleep(struct chain *c, uint32_t above, const struct chain_wait *w, uint64_t from,
			  uint64_t to, int depth)
{
	bool thread = w->by == WOKEN_BY_TASK && w->waker != CHAIN_NO_THREAD;

	if (from >= to || above == UINT32_MAX)
		return;
	if (thread)
		above = find_link(c, above, CHAIN_WAKER, w->waker);
	if (thread && w->waking && above != UINT32_MAX)
		above = find_link(c, above, CHAIN_WAKING, w->waking);
	if (above == UINT32_MAX)
		return;
	if (!thread)
		add_leaf(c, above, CHAIN_BY, w->by == WOKEN_BY_TASK ? WOKEN_BY_UNKNOWN : w->by, to - from);
	else if (!is_recorded(c, w->waker))
		add_leaf(c, above, CHAIN_NOT_RECORDED, 0, to - from);
	else if (depth == CHAIN_DEPTH)
		add_leaf(c, above, CHAIN_TOO_DEEP, 0, to - from);
	else
		explain_thread(c, above, w->waker, from, to, depth + 1);
}

/* Divides [from, to) of a waker. Waits that overlap, which no sound capture has, are cut. */
static void explain_thread(struct chain *c, uint32_t above, uint32_t thread, uint64_t from, uint64_t to,
			   int depth)
{
	uint64_t since = thread_since(c, thread);

	if (from < since) {
		add_leaf(c, above, CHAIN_NOT_STARTED, 0, (since < to ? since : to) - from);
		from = since < to ? since : to;
	}
	for (size_t i = find_wait(c, thread, from); i < c->first_wait[thread + 1] && c->waits[i].start < to;
	     i++) {
		const struct chain_wait *w = &c->waits[i];
		uint64_t start = clamp(w->start, from, to), woken = clamp(w->woken, start, to),
			 on = clamp(w->on, woken, to), ready = clamp(w->throttled, woken, on);

		add_gap(c, above, thread, from, start);
		if (start < woken)
			explain_sleep(c, find_link(c, above, CHAIN_SITE, w->place), w, start, woken, depth);
		add_leaf(c, above, CHAIN_QUEUE, w->quota, ready - woken);
		add_leaf(c, above, CHAIN_QUEUE, w->queue, on - ready);
		from = on;
	}
	add_gap(c, above, thread, from, to);
}

void chain_explain(struct chain *c, uint32_t place, const struct chain_wait *w, uint64_t from, uint64_t to)
{
	if (!c->failed && from < to)
		explain_sleep(c, find_link(c, 0, CHAIN_ROOT, place), w, from, to, 0);
}

/* The parts below a CHAIN_RAN: their weights as collected. */
struct shares {
	uint64_t weight[2]; /* samples, short waits */
	uint64_t seen[2], due[2];
};

/*
 * Short waits keep their time, because it was measured, and samples share the rest. If there are more short
 * waits than time, because they began before it, all share it.
 */
static void find_due(struct shares *s, uint64_t ns)
{
	uint64_t parts = s->weight[0], waits = s->weight[1];

	if (waits <= ns) {
		s->due[1] = waits;
		s->due[0] = parts ? ns - waits : 0;
		return;
	}
	s->due[1] = (uint64_t)((unsigned __int128)ns * waits / ((unsigned __int128)parts + waits));
	s->due[0] = parts ? ns - s->due[1] : 0;
	if (!parts)
		s->due[1] = ns;
}

static bool is_share(const struct chain_link *l)
{
	return l->kind == CHAIN_PART || l->kind == CHAIN_SHORT;
}

void chain_settle(struct chain *c)
{
	struct shares *all = calloc(c->n_links + 1, sizeof(*all));

	c->failed = c->failed || !all;
	for (size_t i = 0; all && i < c->n_links; i++) {
		if (is_share(&c->links[i]))
			all[c->links[i].parent].weight[c->links[i].kind == CHAIN_SHORT] += c->links[i].ns;
	}
	for (size_t i = 0; all && i < c->n_links; i++) {
		if (c->links[i].kind == CHAIN_RAN) {
			find_due(&all[i], c->links[i].ns);
			c->links[i].ns -= all[i].due[0] + all[i].due[1];
		}
	}
	for (size_t i = 0; all && i < c->n_links; i++) {
		struct chain_link *l = &c->links[i];
		struct shares *s = is_share(l) ? &all[l->parent] : NULL;
		int of = l->kind == CHAIN_SHORT;
		uint64_t before;

		if (!s || !s->weight[of])
			continue;
		before = (uint64_t)((unsigned __int128)s->due[of] * s->seen[of] / s->weight[of]);
		s->seen[of] += l->ns;
		l->ns = (uint64_t)((unsigned __int128)s->due[of] * s->seen[of] / s->weight[of]) - before;
	}
	free(all);
}
