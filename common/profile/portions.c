#include "common/profile/portions.h"

#include <stdlib.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a - least(a, b);
}

/* The last time when all that had been run until then was told; 0: not said. */
static uint64_t since(struct portions *s, const struct capture *c)
{
	if (!s->since_known)
		s->since = slice_decimal(capture_meta(c, META_WAITS_SINCE));
	s->since_known = true;
	return s->since;
}

/* A segment tells of what happened since it began, and before that since its first sample, which may have been late. */
static uint64_t told_since(const struct capture *c)
{
	return c->sampled ? least(c->began, c->monotonic) : c->monotonic;
}

/* How much of [start, end) lies in the time that is asked for, and in the segment; behind: from the last of it to end. */
static uint64_t overlap(const struct asked *a, uint64_t start, uint64_t end, uint64_t *behind)
{
	start = most(start, told_since(a->capture));
	*behind = 0;
	return start < end ? view_overlap(a->view, a->capture, a->base, end, end - start, behind) : 0;
}

/* Of [start, end), in a span that began at from. */
static struct portions_waits split(const struct asked *a, uint64_t from, uint64_t start, uint64_t end)
{
	uint64_t n = end - start, ignored;
	struct portions_waits p = { .start = start, .end = end };

	p.within = least(overlap(a, start, end, &p.behind), n);
	p.behind = least(p.behind, n - p.within);
	if (!p.within && overlap(a, least(from, start), end, &ignored))
		p.behind = n;
	p.before = n - p.within - p.behind;
	return p;
}

static void add(struct portions_waits *to, const struct portions_waits *p)
{
	if (!to->end) {
		to->start = p->start;
		to->end = p->end;
	}
	to->before += p->before;
	to->within += p->within;
	to->behind += p->behind;
}

static void subtract(struct portions_waits *from, const struct portions_waits *p)
{
	from->before = less(from->before, p->before);
	from->within = less(from->within, p->within);
	from->behind = less(from->behind, p->behind);
}

static uint64_t scaled(uint64_t v, uint64_t by, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)v * by / whole) : 0;
}

/* Of ns in a span of so long what it ran in the first past of it, of which it waited so much; waited: in all. */
static uint64_t up_to(uint64_t ns, uint64_t past, uint64_t past_waited, uint64_t span, uint64_t waited)
{
	uint64_t all_free = less(span, waited), free = least(less(past, past_waited), all_free);

	if (ns <= all_free)
		return scaled(ns, free, all_free);
	/* Short waits are told as one, which may reach over time that it ran in. So it ran in some of the waits, too. */
	return free + scaled(ns - all_free, past - free, span - all_free);
}

static struct record_ran take(struct portions *s, const struct asked *a, uint64_t thread)
{
	struct portions_thread *t = &s->threads[thread];
	const struct record_ran r = t->told;
	struct portions_waits p, w = t->told_waits;
	uint64_t start = most(r.time - r.span, since(s, a->capture)), span, waited, first, last;

	t->told.time = 0;
	if (start > r.time - r.ns) /* it cannot be */
		start = r.time - r.span;
	if (w.start < start && w.start < w.end) { /* a filter has cut the span, and no waits */
		p = split(a, t->told_from, w.start, least(w.end, start));
		subtract(&w, &p);
	}
	span = r.time - start;
	waited = w.before + w.within + w.behind;
	p = split(a, start, start, r.time);
	if (p.within == 0)
		return (struct record_ran){ .thread = r.thread };
	first = up_to(r.ns, p.before, w.before, span, waited);
	last = up_to(r.ns, p.before + p.within, w.before + w.within, span, waited);
	return (struct record_ran){ r.time - p.behind, r.thread, last - first, p.within };
}

static bool is_told(const struct portions *s, uint64_t thread, uint64_t until)
{
	return thread < s->n && s->threads[thread].told.time && s->threads[thread].told.time <= until;
}

/* Whose spans up to which time are due before this record; false: nobody's. */
static bool makes_due(const struct capture *c, const struct record *r, uint64_t *thread, uint64_t *until)
{
	*until = UINT64_MAX;
	if (r->type == RECORD_RAN)
		*thread = r->ran.thread;
	else if (r->type == RECORD_COMM)
		*thread = r->comm.thread;
	else if (r->type == RECORD_SAMPLE)
		*thread = r->sample.thread;
	else
		return false;
	/* A wait that began in the span is of it, and has not been taken in yet. */
	if (r->type == RECORD_SAMPLE)
		*until = less(r->sample.time, capture_wait(c, r->sample.event) ? r->sample.weight : 0);
	return true;
}

/* A repetition of the group that the process is in changes nothing, and each process that is forked brings one. */
static bool moves(const struct capture *c, const struct record_member *r)
{
	uint32_t path;

	return r->process < c->n_processes && idmap_find(&c->cgroups, r->cgroup, &path) &&
	       c->processes[r->process].cgroup != path;
}

/* Are those of all threads due, or of all of a process? */
static bool makes_many_due(const struct capture *c, const struct record *r)
{
	return !r || r->type == RECORD_SEGMENT || r->type == RECORD_END ||
	       (r->type == RECORD_MEMBER && moves(c, &r->member));
}

bool portions_due(struct portions *s, const struct asked *a, const struct record *r, struct record_ran *part)
{
	uint64_t until = UINT64_MAX, thread;

	if (!makes_many_due(a->capture, r)) {
		if (!makes_due(a->capture, r, &thread, &until) || !is_told(s, thread, until))
			return false;
		*part = take(s, a, thread);
		return true;
	}
	for (; s->next < s->n; s->next++) {
		if (r && r->type == RECORD_MEMBER && a->capture->threads[s->next].process != r->member.process)
			continue;
		if (is_told(s, s->next, until)) {
			*part = take(s, a, s->next);
			return true;
		}
	}
	s->next = 0;
	return false;
}

static struct portions_thread *thread_of(struct portions *s, uint64_t thread)
{
	if (!grow_array(&s->threads, &s->cap, (size_t)thread, sizeof(*s->threads)))
		return NULL;
	s->n = thread < s->n ? s->n : (size_t)thread + 1;
	return &s->threads[thread];
}

bool portions_makes_sense(const struct record_ran *r)
{
	return r->ns <= r->span && r->span <= r->time;
}

bool portions_tell(struct portions *s, const struct record_ran *r)
{
	struct portions_thread *t = thread_of(s, r->thread);

	if (!t)
		return false;
	t->told = *r;
	t->told_from = t->from;
	t->told_waits = t->waits;
	t->waits = (struct portions_waits){ 0 };
	t->from = r->time;
	return true;
}

bool portions_wait(struct portions *s, const struct asked *a, const struct record_sample *r)
{
	uint64_t start = less(r->time, r->weight);
	struct portions_waits p;
	struct portions_thread *t;

	if (!capture_wait(a->capture, r->event))
		return true;
	t = thread_of(s, r->thread);
	if (!t)
		return false;
	start = most(most(start, since(s, a->capture)), most(t->end, t->told.time ? t->told_from : t->from));
	if (start >= r->time)
		return true;
	t->end = r->time;
	if (t->told.time && start < t->told.time) {
		uint64_t middle = least(r->time, t->told.time);

		p = split(a, t->told_from, start, middle);
		add(&t->told_waits, &p);
		start = middle;
	}
	if (start < r->time) {
		p = split(a, t->from, start, r->time);
		add(&t->waits, &p);
	}
	return true;
}

void portions_forget(struct portions *s)
{
	if (s->n)
		memset(s->threads, 0, s->n * sizeof(*s->threads));
	s->n = s->next = 0;
	s->since_known = false;
}

void portions_release(struct portions *s)
{
	free(s->threads);
	*s = (struct portions){ 0 };
}
