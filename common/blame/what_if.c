#include "common/blame/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/glob.h"
#include "common/base/search.h"
#include "common/blame/blame_replay.h"
#include "common/blame/blame_write.h"
#include "common/blame/replay.h"

enum { EFFECT = 200 }; /* saving less than one part in this is no effect */

/* 95 % of a normal variable are within this number of standard deviations. */
#define SIGMAS 1.96

/* Frames by which a thread sleeps for a time, or until a moment: the kernel's, and those of libraries. */
static const struct {
	const char *name;
	enum replay_sleep sleep;
} sleeps[] = {
	{ "nanosleep", SLEEP_FOR }, { "__nanosleep", SLEEP_FOR },    { "usleep", SLEEP_FOR },
	{ "sleep", SLEEP_FOR },     { "timerfd_read", SLEEP_UNTIL }, { "timerfd_read_iter", SLEEP_UNTIL },
	{ "[waiting for a CPU]", SLEEP_QUEUED },
};

/* All that replay.h needs. */
struct asking {
	struct blame *b;
	struct replay_life *lives;
	bool *scaled, *pauses;
	uint8_t *sleeps;
	struct replay_saved *least; /* by thread */
	struct replay r;
};

static enum replay_sleep sleep_of(struct slice name)
{
	for (size_t i = 0; i < sizeof(sleeps) / sizeof(sleeps[0]); i++) {
		if (slice_is(name, sleeps[i].name))
			return sleeps[i].sleep;
	}
	return SLEEP_UNKNOWN;
}

/* Compilers add to the names of copies: "parse.constprop.0" is parse. */
static bool is_function(const char *function, struct slice name)
{
	const uint8_t *dot = name.n ? memchr(name.p, '.', name.n) : NULL;

	if (glob_matches(function, name))
		return true;
	name.n = dot ? (size_t)(dot - name.p) : 0;
	return name.n && glob_matches(function, name);
}

/* A node inherits from its parent, which has a lower number. */
static void mark_places(struct asking *a)
{
	const struct profile *wall = &a->b->wall;
	const struct what_if *w = a->b->asked->what_if;

	for (size_t i = 1; i < wall->n; i++) {
		bool function = blame_count_outer(a->b, (uint32_t)i) == a->b->roots;
		struct slice name = profile_text(wall, wall->nodes[i].label);
		uint32_t parent = wall->nodes[i].parent;

		a->scaled[i] = a->scaled[parent] || (function && is_function(w->function, name));
		a->pauses[i] = a->pauses[parent] ||
			       (function && w->requests && is_function(w->requests, name));
		a->sleeps[i] = (uint8_t)sleep_of(name);
		if (!a->sleeps[i])
			a->sleeps[i] = a->sleeps[parent];
	}
}

/* Finds the function's part of the samples that fell into the times of each thread in the queue. */
static void share_queues(struct asking *a)
{
	struct culprits *c = &a->b->culprits;

	for (size_t i = 0; i < c->n_samples; i++)
		c->samples[i].who = a->scaled[c->samples[i].who];
	culprits_find(c);
	for (size_t i = 0, end; i < c->n_found; i = end) {
		double all = 0, own = 0;

		for (end = i; end < c->n_found && c->found[end].thread == c->found[i].thread; end++) {
			all += (double)c->found[end].ns;
			own += c->found[end].who == 1 ? (double)c->found[end].ns : 0;
		}
		a->lives[c->found[i].thread].queue_share = all > 0 ? own / all : 0;
	}
}

static uint64_t earliest(const struct chain *c, uint32_t thread)
{
	uint64_t since = thread < c->cap_since ? c->since[thread] : 0, first = UINT64_MAX;

	if (c->first_wait[thread] < c->first_wait[thread + 1])
		first = c->waits[c->first_wait[thread]].start;
	if (c->first_part[thread] < c->first_part[thread + 1]) {
		const struct chain_part *p = &c->parts[c->first_part[thread]];
		uint64_t start = p->weight < p->time ? p->time - p->weight : 0;

		first = start < first ? start : first;
	}
	return since && since < first ? since : first;
}

static void fill_lives(struct asking *a)
{
	const struct blame *b = a->b;

	for (uint32_t t = 0; t < b->chain.n_threads; t++) {
		struct replay_life *l = &a->lives[t];
		uint64_t begin = earliest(&b->chain, t);

		if (t >= b->cap_lives)
			continue;
		begin = begin > b->lives[t].from ? begin : b->lives[t].from;
		if (begin >= b->lives[t].end)
			continue;
		*l = (struct replay_life){ .begin = begin, .end = b->lives[t].end,
					   .process = b->lives[t].process, .parent = b->lives[t].parent,
					   .exited = b->lives[t].exited };
	}
}

/*
 * A function that saved this much has saved at least, or at most, so much, by the number of its samples. If
 * several requests waited for the same run of it, there are still no more samples than it has in all.
 */
static double bound(const struct replay *r, double saved, double sign)
{
	double unit = r->share * r->part, all = (double)r->samples, half, to;

	unit = saved > unit * all && all > 0 ? saved / all : unit;
	half = SIGMAS * SIGMAS * unit / 2;
	to = saved + half + sign * sqrt(half * (half + 2 * saved));
	return to > 0 ? to : 0;
}

/* Sums of both replays for a thread or a process, in ns. */
struct answer {
	uint32_t owner; /* the thread, or the number of its process */
	uint64_t requests; /* their number; 1 for elapsed times */
	double wall, least, most;
};

static int compare_requests(const void *a, const void *b)
{
	const struct replay_request *x = a, *y = b;

	return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
				      : (x->ns > y->ns) - (x->ns < y->ns);
}

static bool is_wanted(const struct asking *a, uint32_t thread)
{
	return thread < a->b->cap_lives && a->b->lives[thread].wanted && a->lives[thread].end;
}

/* Sorts the requests by the owners of rows, in place of threads, and by their length. */
static void sort_requests(struct asking *a)
{
	struct replay_request *requests = a->r.requests;
	size_t n = 0;

	for (size_t i = 0; i < a->r.n_requests; i++) {
		uint32_t thread = requests[i].thread;

		if (!is_wanted(a, thread))
			continue;
		requests[n] = requests[i];
		requests[n++].thread = a->b->asked->what_if->by_thread ? thread : a->lives[thread].process;
	}
	a->r.n_requests = n;
	if (n)
		qsort(requests, n, sizeof(*requests), compare_requests);
}

/* The percentile by the nearest rank: a length that a request had. */
static uint64_t percentile(const struct replay_request *sorted, size_t n, size_t percent)
{
	return sorted[(n * percent + 99) / 100 - 1].ns;
}

static void add_percentiles(const struct asking *a, uint32_t owner, struct what_if_row *row)
{
	const struct replay_request *all = a->r.requests;
	size_t first = SEARCH_COUNT(a->r.n_requests, i, all[i].thread < owner);
	size_t n = SEARCH_COUNT(a->r.n_requests, i, all[i].thread <= owner) - first;

	if (!n)
		return;
	row->median = percentile(all + first, n, 50);
	row->p90 = percentile(all + first, n, 90);
	row->p99 = percentile(all + first, n, 99);
}

static bool add_row(struct asking *a, uint32_t named, const struct answer *answer)
{
	struct what_if *w = a->b->asked->what_if;
	struct slice name = profile_text(&a->b->wall, a->b->threads[named].label);
	double n = (double)answer->requests, wall = answer->wall / n, most = answer->most;
	double least = answer->least > most ? most : answer->least;
	struct what_if_row *row;

	while (!w->by_thread && name.n && name.p[name.n - 1] != '/')
		name.n--;
	name.n -= !w->by_thread && name.n;
	if (!grow_array(&w->rows, &w->cap, w->n, sizeof(*w->rows)))
		return false;
	row = &w->rows[w->n];
	*row = (struct what_if_row){ .name = strndup((const char *)name.p, name.n),
				     .requests = answer->requests,
				     .wall = (uint64_t)wall,
				     .least = least > 0 ? bound(&a->r, least, -1) / n : 0,
				     .most = bound(&a->r, most > 0 ? most : 0, 1) / n,
				     .touched = most * EFFECT > answer->wall };
	if (row->most > (double)row->wall)
		row->most = (double)row->wall;
	if (row->least > row->most)
		row->least = row->most;
	add_percentiles(a, answer->owner, row);
	w->n += row->name != NULL;
	return row->name != NULL;
}

static void add_requests(const struct asking *a, uint32_t thread, struct answer *to)
{
	to->requests += a->least[thread].requests.n;
	to->wall += a->least[thread].requests.ns;
	to->least += a->least[thread].requests.saved;
	to->most += a->r.saved[thread].requests.saved;
}

static struct answer answer_thread(const struct asking *a, uint32_t thread)
{
	const struct replay_life *l = &a->lives[thread];
	const struct replay_saved *least = &a->least[thread], *most = &a->r.saved[thread];
	struct answer requests = { .owner = thread };

	add_requests(a, thread, &requests);
	return a->b->asked->what_if->requests
		       ? requests
		       : (struct answer){ thread, 1, (double)(l->end - l->begin),
					  least->end - least->begin, most->end - most->begin };
}

static bool add_threads(struct asking *a)
{
	for (uint32_t t = 0; t < a->b->chain.n_threads; t++) {
		struct answer answer = { 0 };

		if (is_wanted(a, t))
			answer = answer_thread(a, t);
		if (answer.requests && !add_row(a, t, &answer))
			return false;
	}
	return true;
}

/* A process and the threads that matter for its time. */
struct process {
	uint32_t first, last; /* thread + 1 with the first beginning, and with the last end */
	double end;	      /* the last end of a thread that exited, after the least saving */
	bool wanted;
	struct answer requests; /* those of threads that are wanted */
};

static void see_thread(const struct asking *a, struct process *p, uint32_t t)
{
	const struct replay_life *l = &a->lives[t];
	double end = (double)l->end - a->least[t].end;

	p->wanted = p->wanted || is_wanted(a, t);
	p->requests.owner = l->process;
	if (is_wanted(a, t))
		add_requests(a, t, &p->requests);
	if (!p->first || l->begin < a->lives[p->first - 1].begin)
		p->first = t + 1;
	if (!p->last || l->end > a->lives[p->last - 1].end)
		p->last = t + 1;
	if (l->exited && end > p->end)
		p->end = end;
}

/* A process ends with its last thread, and not before another one that exited by itself. */
static struct answer answer_process(const struct asking *a, const struct process *p)
{
	uint32_t first = p->first - 1, last = p->last - 1;
	double end = (double)a->lives[last].end, least = a->least[last].end;

	if (a->b->asked->what_if->requests)
		return p->requests;
	if (a->lives[last].exited && p->end > end - least)
		least = end - p->end;
	return (struct answer){ 0, 1, end - (double)a->lives[first].begin, least - a->least[first].begin,
				a->r.saved[last].end - a->r.saved[first].begin };
}

static bool add_process(struct asking *a, const struct process *p, uint32_t named)
{
	struct answer answer = { 0 };

	if (p->wanted)
		answer = answer_process(a, p);
	return !answer.requests || add_row(a, a->b->threads[named].label ? named : p->first - 1, &answer);
}

static bool add_processes(struct asking *a)
{
	uint32_t n = a->b->identities.n < UINT32_MAX ? (uint32_t)a->b->identities.n : 0;
	struct process *processes = calloc((size_t)n + 1, sizeof(*processes));
	bool good = processes && grow_array(&a->b->threads, &a->b->cap_threads, n, sizeof(*a->b->threads));

	for (uint32_t t = 0; good && t < a->b->chain.n_threads; t++) {
		if (a->lives[t].process && a->lives[t].end)
			see_thread(a, &processes[a->lives[t].process - 1], t);
	}
	for (uint32_t i = 0; good && i < n; i++)
		good = add_process(a, &processes[i], i);
	free(processes);
	return good;
}

static int compare_rows(const void *a, const void *b)
{
	const struct what_if_row *x = a, *y = b;

	return x->most != y->most ? (x->most < y->most ? 1 : -1) : strcmp(x->name, y->name);
}

/* Short waits at the pauses: the requests before and after them are taken for one. */
static uint64_t brief_pauses(const struct asking *a)
{
	const struct chain *c = &a->b->chain;
	uint64_t ns = 0;

	for (size_t i = 0; i < c->n_parts; i++) {
		const struct chain_part *p = &c->parts[i];

		if (p->waits && a->pauses[p->place] && a->sleeps[p->place] != SLEEP_QUEUED &&
		    is_wanted(a, p->thread))
			ns += p->weight;
	}
	return ns;
}

static bool ask(struct asking *a)
{
	struct what_if *w = a->b->asked->what_if;
	size_t n = a->b->chain.n_threads;
	bool good;

	mark_places(a);
	fill_lives(a);
	share_queues(a);
	replay_init(&a->r, &a->b->chain, a->lives, a->scaled, a->sleeps);
	a->r.pauses = a->pauses;
	replay_run(&a->r, w->share, REPLAY_LEAST);
	if (a->r.failed || a->b->culprits.failed)
		return false;
	memcpy(a->least, a->r.saved, n * sizeof(*a->least));
	replay_run(&a->r, w->share, REPLAY_MOST);
	w->samples += a->r.samples;
	w->ran += a->r.ran;
	w->waits += a->b->chain.n_waits;
	w->brief += brief_pauses(a);
	sort_requests(a);
	good = w->by_thread ? add_threads(a) : add_processes(a);
	if (w->n)
		qsort(w->rows, w->n, sizeof(*w->rows), compare_rows);
	return good;
}

bool what_if_find(struct blame *b)
{
	struct asking a = { .b = b };
	bool good;

	blame_replay_cut(b);
	chain_sort(&b->chain);
	a.lives = calloc((size_t)b->chain.n_threads + 1, sizeof(*a.lives));
	a.scaled = calloc(b->wall.n + 1, sizeof(*a.scaled));
	a.pauses = calloc(b->wall.n + 1, sizeof(*a.pauses));
	a.sleeps = calloc(b->wall.n + 1, sizeof(*a.sleeps));
	a.least = calloc((size_t)b->chain.n_threads + 1, sizeof(*a.least));
	good = !b->chain.failed && a.lives && a.scaled && a.pauses && a.sleeps && a.least && ask(&a);
	replay_release(&a.r);
	free(a.lives);
	free(a.scaled);
	free(a.pauses);
	free(a.sleeps);
	free(a.least);
	return good;
}

void what_if_release(struct what_if *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->rows[i].name);
	free(w->rows);
	w->rows = NULL;
	w->n = w->cap = 0;
}
