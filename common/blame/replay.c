#include "common/blame/replay.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/search.h"

enum { OWN_SAMPLES = 20 }; /* a gap with more shows by itself where the function ran */

/* Time between long waits, or sums of it. */
struct replay_sum {
	double length, brief; /* ns; ns of short waits ... */
	double loose;	      /* ... and of them what may go away */
	double own, other;    /* weight of samples with the function, and of others */
	size_t first_point, end_point; /* of a pool */
};

/* A sample with the function, in a pool: the thread may wake others before it, or after it. */
struct replay_point {
	double at;  /* from 0, the beginning of the gap, to 1 */
	double sum; /* weight of the pool's points up to this one */
	uint32_t pool;
};

struct replay_gap {
	uint64_t start, end;
	size_t first_part, end_part;
	struct replay_sum sum;
	uint32_t pool; /* UINT32_MAX: it has many samples */
};

struct replay_event {
	uint64_t time;
	size_t wait; /* n_waits + thread: the thread begins */
};

/* A thread up to a moment of the recording. */
struct replay_thread {
	uint64_t at;
	size_t next;  /* wait */
	double saved; /* then, in ns */
	double share; /* the function's part of its samples, of all its time */
	uint64_t request; /* when its request began; 0: it has none */
	double begun;	  /* ns saved at that time */
};

static int compare_events(const void *a, const void *b)
{
	const struct replay_event *x = a, *y = b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
				  : (x->wait < y->wait) - (x->wait > y->wait); /* beginnings come first */
}

static size_t gap_of(const struct replay *r, uint32_t thread)
{
	size_t next = r->threads[thread].next;

	return next < r->chain->first_wait[thread + 1] ? next : r->chain->n_waits + thread;
}

static bool is_own(const struct replay *r, size_t part)
{
	return !r->chain->parts[part].waits && r->scaled[r->chain->parts[part].place];
}

static void sum_samples(struct replay *r)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < r->chain->n_parts; i++) {
		double weight = is_own(r, i) ? (double)r->chain->parts[i].weight : 0;

		r->own_before[i] = sum;
		r->samples += is_own(r, i);
		sum += weight;
		squares += weight * weight;
	}
	r->own_before[r->chain->n_parts] = r->ran = sum;
	r->part = sum > 0 ? squares / sum : 0;
}

/* Returns the part of a short wait that may go away. */
static double loose_part(const struct replay *r, const struct chain_part *p)
{
	enum replay_sleep sleep = (enum replay_sleep)r->sleeps[p->place];

	return sleep == SLEEP_QUEUED ? r->lives[p->thread].queue_share : sleep == SLEEP_UNKNOWN;
}

/* Adds up the parts of a gap. */
static void sum_gap(struct replay *r, struct replay_gap *g, uint64_t *samples)
{
	for (size_t i = g->first_part; i < g->end_part; i++) {
		const struct chain_part *p = &r->chain->parts[i];

		*samples += !p->waits;
		if (p->waits) {
			g->sum.brief += (double)p->weight;
			g->sum.loose += (double)p->weight * loose_part(r, p);
		} else if (is_own(r, i)) {
			g->sum.own += (double)p->weight;
		} else {
			g->sum.other += (double)p->weight;
		}
	}
	if (g->sum.brief > g->sum.length)
		g->sum.brief = g->sum.length;
	if (g->sum.loose > g->sum.brief)
		g->sum.loose = g->sum.brief;
}

static void add_point(struct replay *r, const struct replay_gap *g, size_t part)
{
	const struct chain_part *p = &r->chain->parts[part];

	if (!is_own(r, part))
		return;
	if (!extend_array(&r->points, &r->cap_points, r->n_points, sizeof(*r->points))) {
		r->failed = true;
		return;
	}
	r->points[r->n_points++] = (struct replay_point){
		.at = p->time > g->start && g->sum.length > 0
			      ? (double)(p->time - g->start) / g->sum.length
			      : 0,
		.sum = (double)p->weight,
		.pool = g->pool,
	};
}

static int compare_points(const void *a, const void *b)
{
	const struct replay_point *x = a, *y = b;

	return x->pool != y->pool ? (x->pool > y->pool) - (x->pool < y->pool)
				  : (x->at > y->at) - (x->at < y->at);
}

static void sort_points(struct replay *r)
{
	if (r->n_points)
		qsort(r->points, r->n_points, sizeof(*r->points), compare_points);
	for (size_t i = 0; i < r->n_points; i++) {
		struct replay_sum *s = &r->sums[r->points[i].pool];

		if (s->end_point == 0)
			s->first_point = i;
		else
			r->points[i].sum += r->points[i - 1].sum;
		s->end_point = i + 1;
	}
}

static void pool_gap(struct replay *r, struct replay_gap *g, uint32_t thread, uint32_t before, uint32_t after)
{
	uint32_t key[3] = { thread, before, after };
	struct replay_sum *sum;

	if (!intern_add(&r->pools, (struct slice){ (const uint8_t *)key, sizeof(key) }, &g->pool) ||
	    !grow_array(&r->sums, &r->cap_sums, g->pool, sizeof(*r->sums))) {
		r->failed = true;
		return;
	}
	for (size_t i = g->first_part; i < g->end_part; i++)
		add_point(r, g, i);
	sum = &r->sums[g->pool];
	sum->length += g->sum.length;
	sum->brief += g->sum.brief;
	sum->own += g->sum.own;
	sum->other += g->sum.other;
}

static void make_gap(struct replay *r, size_t at, uint32_t thread, uint64_t start, uint64_t end, size_t *part)
{
	const struct chain *c = r->chain;
	struct replay_gap *g = &r->gaps[at];
	bool last = at >= c->n_waits;
	uint64_t samples = 0;

	*g = (struct replay_gap){ .start = start, .end = end > start ? end : start, .first_part = *part,
				  .pool = UINT32_MAX };
	while (*part < c->first_part[thread + 1] && (last || c->parts[*part].time <= g->end))
		++*part;
	g->end_part = *part;
	g->sum.length = (double)(g->end - g->start);
	sum_gap(r, g, &samples);
	if (samples < OWN_SAMPLES) {
		size_t wait = last ? c->first_wait[thread + 1] : at;

		pool_gap(r, g, thread, wait > c->first_wait[thread] ? c->waits[wait - 1].place + 1 : 0,
			 last ? 0 : c->waits[wait].place + 1);
	}
	/* Parts of the wait after the gap: waits that did not end before it. */
	while (!last && *part < c->first_part[thread + 1] && c->parts[*part].time <= c->waits[at].on &&
	       c->parts[*part].waits)
		++*part;
}

static double share_of(const struct replay *r, uint32_t thread)
{
	size_t first = r->chain->first_part[thread], end = r->chain->first_part[thread + 1];
	double all = 0;

	for (size_t i = first; i < end; i++)
		all += r->chain->parts[i].waits ? 0 : (double)r->chain->parts[i].weight;
	return all > 0 ? (r->own_before[end] - r->own_before[first]) / all : 0;
}

static void make_gaps(struct replay *r, uint32_t thread)
{
	const struct chain *c = r->chain;
	uint64_t start = r->lives[thread].begin;
	size_t part = c->first_part[thread];

	for (size_t i = c->first_wait[thread]; i < c->first_wait[thread + 1]; i++) {
		make_gap(r, i, thread, start, c->waits[i].start, &part);
		start = c->waits[i].on;
	}
	make_gap(r, c->n_waits + thread, thread, start, r->lives[thread].end, &part);
	r->threads[thread].share = share_of(r, thread);
}

static void make_events(struct replay *r)
{
	const struct chain *c = r->chain;

	for (size_t i = 0; i < c->n_waits; i++)
		r->events[r->n_events++] = (struct replay_event){ c->waits[i].woken, i };
	for (uint32_t t = 0; t < c->n_threads; t++)
		r->events[r->n_events++] = (struct replay_event){ r->lives[t].begin, c->n_waits + t };
	if (r->n_events)
		qsort(r->events, r->n_events, sizeof(*r->events), compare_events);
}

static bool is_known(const struct chain_wait *w)
{
	return w->by != WOKEN_BY_UNKNOWN && w->by != WOKEN_BY_BRIEF;
}

/* A wait with an unknown end ended as the thread's last one there, or its next one. */
static void find_cause(struct replay *r, struct idmap *known, size_t wait)
{
	const struct chain_wait *w = &r->chain->waits[wait];
	uint64_t key = (uint64_t)w->thread << 32 | w->place;
	uint32_t at;

	if (is_known(w))
		r->failed = !idmap_set(known, key, (uint32_t)wait) || r->failed;
	else if (r->causes[wait] == wait && idmap_find(known, key, &at))
		r->causes[wait] = at;
}

static void find_causes(struct replay *r)
{
	size_t n = r->chain->n_waits;
	struct idmap known;

	idmap_init(&known);
	for (size_t i = 0; i < n; i++)
		r->causes[i] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		find_cause(r, &known, i);
	idmap_clear(&known);
	for (size_t i = n; i-- > 0;)
		find_cause(r, &known, i);
	idmap_release(&known);
}

void replay_init(struct replay *r, const struct chain *c, const struct replay_life *lives, const bool *scaled,
		 const uint8_t *sleeps)
{
	size_t n = c->n_waits + c->n_threads + 1;

	*r = (struct replay){ .chain = c, .lives = lives, .scaled = scaled, .sleeps = sleeps };
	intern_init(&r->pools);
	r->saved = calloc((size_t)c->n_threads + 1, sizeof(*r->saved));
	r->threads = calloc((size_t)c->n_threads + 1, sizeof(*r->threads));
	r->gaps = calloc(n, sizeof(*r->gaps));
	r->events = calloc(n, sizeof(*r->events));
	r->own_before = calloc(c->n_parts + 1, sizeof(*r->own_before));
	r->causes = calloc(n, sizeof(*r->causes));
	r->failed = !r->saved || !r->threads || !r->gaps || !r->events || !r->own_before || !r->causes ||
		    c->n_waits >= UINT32_MAX;
	if (!r->failed) {
		sum_samples(r);
		find_causes(r);
	}
	for (uint32_t t = 0; !r->failed && t < c->n_threads; t++)
		make_gaps(r, t);
	if (!r->failed) {
		sort_points(r);
		make_events(r);
	}
}

void replay_release(struct replay *r)
{
	free(r->saved);
	free(r->threads);
	free(r->gaps);
	free(r->events);
	free(r->own_before);
	free(r->causes);
	free(r->sums);
	free(r->requests);
	free(r->points);
	intern_release(&r->pools);
	*r = (struct replay){ 0 };
}

/* Returns the weight of the function's samples before the gap's first one that is later than this time. */
static double own_until(const struct replay *r, const struct replay_gap *g, uint64_t time)
{
	size_t n = g->end_part - g->first_part;

	return r->own_before[g->first_part +
			     SEARCH_COUNT(n, i, r->chain->parts[g->first_part + i].time <= time)];
}

/* Returns the share of a pool's samples with the function that come before this part of a gap. */
static double share_before(const struct replay *r, const struct replay_sum *pool, double part)
{
	const struct replay_point *p = r->points + pool->first_point;
	size_t n = SEARCH_COUNT(pool->end_point - pool->first_point, i, p[i].at <= part);

	return n ? p[n - 1].sum / pool->own : 0;
}

/* Returns the function's running time in the part of the gap from one moment to another. */
static double ran_between(const struct replay *r, const struct replay_gap *g, uint64_t from, uint64_t to)
{
	const struct replay_sum *s = g->pool == UINT32_MAX ? &g->sum : &r->sums[g->pool];
	double samples = s->own + s->other, length = g->sum.length, running = s->length - s->brief;

	from = from > g->start ? from : g->start;
	if (s->own <= 0 || length <= 0 || s->length <= 0 || from >= to)
		return 0;
	if (g->pool == UINT32_MAX)
		return (own_until(r, g, to) - own_until(r, g, from)) * running / samples;
	return length * running / s->length * s->own / samples *
	       (share_before(r, s, (double)(to - g->start) / length) -
		share_before(r, s, (double)(from - g->start) / length));
}

/* Returns what the thread has saved when it reaches this moment, before its next wait. */
static double saved_at(const struct replay *r, uint32_t thread, uint64_t time)
{
	const struct replay_thread *t = &r->threads[thread];
	const struct replay_gap *g = &r->gaps[gap_of(r, thread)];
	double saved = t->saved;

	time = time < g->end ? time : g->end;
	if (time <= t->at)
		return saved;
	saved += r->share * ran_between(r, g, t->at, time);
	if (r->bound == REPLAY_MOST && g->sum.length > 0) {
		double brief = g->sum.loose * (double)(time - t->at) / g->sum.length, all = r->share * r->ran;

		/* No thread saves more than the function does in all. */
		if (saved < all)
			saved = saved + brief < all ? saved + brief : all;
	}
	return saved;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static bool is_recorded(const struct replay *r, uint32_t thread)
{
	return thread != CHAIN_NO_THREAD && r->lives[thread].begin < r->lives[thread].end;
}

/* Woken by a thread. before: what the sleeper had saved when it began to wait; slept: how long it slept. */
static double woken_by_thread(struct replay *r, uint32_t by, uint64_t time, double before, double slept)
{
	double waker = saved_at(r, by, time);

	if (waker <= slept + before)
		return waker;
	if (r->bound == REPLAY_LEAST && r->threads[by].at <= time) {
		r->threads[by].at = time;
		r->threads[by].saved = slept + before;
	}
	return slept + before;
}

/* Returns what the thread has saved when it is woken. */
static double woken(struct replay *r, const struct chain_wait *w, double before, double slept)
{
	const struct chain_wait *cause = &r->chain->waits[r->causes[w - r->chain->waits]];
	bool most = r->bound == REPLAY_MOST;

	if (cause->by == WOKEN_BY_TASK && is_recorded(r, cause->waker))
		return woken_by_thread(r, cause->waker, w->woken, before, slept);
	if (cause->by == WOKEN_BY_DISK || r->sleeps[w->place] == SLEEP_FOR)
		return before;
	if (r->sleeps[w->place] == SLEEP_UNTIL || !most)
		return r->threads[w->thread].begun;
	if (is_known(cause) && cause->by != WOKEN_BY_TASK && cause->by != WOKEN_BY_IDLE)
		return before;
	return smaller(r->most > before ? r->most : before, slept + before);
}

/* A thread that runs for a shorter time is preempted less often. */
static double queue_share(const struct replay *r, const struct chain_wait *w)
{
	double queued = r->lives[w->thread].queue_share, ran = r->threads[w->thread].share;

	return w->woken == w->start && ran > queued ? ran : queued;
}

/* A thread that runs for a shorter time may need no more than its quota. */
static double most_in_queue(const struct replay *r, const struct chain_wait *w, uint64_t wake)
{
	uint64_t ready = w->throttled > wake ? w->throttled : wake;
	double saved = ready > wake && r->threads[w->thread].share > 0 ? (double)(ready - wake) : 0;

	return w->on > ready ? saved + (double)(w->on - ready) * queue_share(r, w) * r->share : saved;
}

static void end_request(struct replay *r, uint32_t thread, uint64_t time, double saved)
{
	struct replay_requests *requests = &r->saved[thread].requests;
	struct replay_thread *t = &r->threads[thread];

	if (t->request &&
	    extend_array(&r->requests, &r->cap_requests, r->n_requests, sizeof(*r->requests))) {
		r->requests[r->n_requests++] = (struct replay_request){ thread, time - t->request };
		requests->n++;
		requests->ns += (double)(time - t->request);
		requests->saved += saved - t->begun;
	} else if (t->request) {
		r->failed = true;
	}
	t->request = 0;
	t->begun = 0;
}

static void end_wait(struct replay *r, const struct chain_wait *w)
{
	struct replay_thread *t = &r->threads[w->thread];
	uint64_t start = w->start > t->at ? w->start : t->at, wake = w->woken > start ? w->woken : start;
	double before = saved_at(r, w->thread, start), saved = before;
	bool pauses = r->pauses && r->pauses[w->place];

	if (pauses)
		end_request(r, w->thread, start, before);
	if (wake > start)
		saved = woken(r, w, before, (double)(wake - start));
	if (pauses) {
		t->request = wake;
		t->begun = saved;
	}
	if (r->bound == REPLAY_MOST)
		saved += most_in_queue(r, w, wake);
	t->at = w->on > wake ? w->on : wake;
	t->saved = saved;
	t->next++;
	r->most = saved > r->most ? saved : r->most;
}

/* May this thread have made the other one? A new thread may be seen first when its maker waits already. */
static bool may_have_made(const struct replay *r, uint32_t maker, uint32_t made, uint32_t process, bool runs)
{
	const struct replay_life *l = &r->lives[maker];
	uint64_t time = r->lives[made].begin;

	return maker != made && l->process == process && l->begin < time && time <= l->end &&
	       (!runs || (r->threads[maker].at <= time && time <= r->gaps[gap_of(r, maker)].end));
}

static bool find_maker(const struct replay *r, uint32_t made, uint32_t process, bool runs, double *saved)
{
	bool found = false;

	for (uint32_t t = 0; process && t < r->chain->n_threads; t++) {
		double one;

		if (!may_have_made(r, t, made, process, runs))
			continue;
		one = saved_at(r, t, r->lives[made].begin);
		if (!found || (r->bound == REPLAY_MOST ? one > *saved : one < *saved))
			*saved = one;
		found = true;
	}
	return found;
}

static void begin_thread(struct replay *r, uint32_t thread)
{
	const struct replay_life *l = &r->lives[thread];
	bool found = false;
	double saved = 0;

	for (int i = 0; !found && i < 4; i++)
		found = find_maker(r, thread, i < 2 ? l->process : l->parent, i % 2 == 0, &saved);
	r->threads[thread].saved = r->saved[thread].begin = saved;
	r->threads[thread].at = l->begin;
}

void replay_run(struct replay *r, double share, enum replay_bound bound)
{
	const struct chain *c = r->chain;

	if (r->failed)
		return;
	r->share = share;
	r->bound = bound;
	r->most = 0;
	r->n_requests = 0;
	for (uint32_t t = 0; t < c->n_threads; t++) {
		r->threads[t] = (struct replay_thread){ .at = r->lives[t].begin,
							.next = c->first_wait[t],
							.share = r->threads[t].share };
		r->saved[t] = (struct replay_saved){ 0 };
	}
	for (size_t i = 0; i < r->n_events; i++) {
		if (r->events[i].wait < c->n_waits)
			end_wait(r, &c->waits[r->events[i].wait]);
		else
			begin_thread(r, (uint32_t)(r->events[i].wait - c->n_waits));
	}
	for (uint32_t t = 0; t < c->n_threads; t++)
		r->saved[t].end = saved_at(r, t, r->lives[t].end);
}
