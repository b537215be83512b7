#include "common/select/run_spans.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/idmap.h"

static uint64_t min_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_time(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t subtract_to_zero(uint64_t a, uint64_t b)
{
	return a - min_time(a, b);
}

/* Returns the time up to which all run time was reported before this segment; 0: unknown. */
static uint64_t reported_until(struct run_spans *s, const struct capture *c)
{
	if (!s->since_known)
		s->since = slice_decimal(capture_meta(c, META_WAITS_SINCE));
	s->since_known = true;
	return s->since;
}

/* Returns where the segment's time begins: at its start, or at its first sample if that is earlier. */
static uint64_t segment_start(const struct capture *c)
{
	return c->sampled ? min_time(c->began, c->monotonic) : c->monotonic;
}

/*
 * Returns how much of [start, end) is in the window and in the segment; *after: from the last of it to end.
 */
static uint64_t window_overlap(const struct select *a, uint64_t start, uint64_t end, uint64_t *after)
{
	start = max_time(start, segment_start(a->capture));
	*after = 0;
	return start < end ? select_overlap(a, end, end - start, after) : 0;
}

/* Splits the wait [start, end), in a span that began at from, at the edges of the window. */
static struct run_spans_waits split_wait(const struct select *a, uint64_t from, uint64_t start, uint64_t end)
{
	uint64_t n = end - start, ignored;
	struct run_spans_waits p = { .start = start, .end = end };

	p.within = min_time(window_overlap(a, start, end, &p.after), n);
	p.after = min_time(p.after, n - p.within);
	if (!p.within && window_overlap(a, min_time(from, start), end, &ignored))
		p.after = n;
	p.before = n - p.within - p.after;
	return p;
}

static void add_parts(struct run_spans_waits *to, const struct run_spans_waits *p)
{
	if (!to->end) {
		to->start = p->start;
		to->end = p->end;
	}
	to->before += p->before;
	to->within += p->within;
	to->after += p->after;
}

static void subtract_parts(struct run_spans_waits *from, const struct run_spans_waits *p)
{
	from->before = subtract_to_zero(from->before, p->before);
	from->within = subtract_to_zero(from->within, p->within);
	from->after = subtract_to_zero(from->after, p->after);
}

static uint64_t scale_by(uint64_t v, uint64_t by, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)v * by / whole) : 0;
}

/*
 * Returns how much of ns the thread ran in the first past nanoseconds of a span, of which it waited
 * past_waited. waited: its waits in the whole span.
 */
static uint64_t up_to(uint64_t ns, uint64_t past, uint64_t past_waited, uint64_t span, uint64_t waited)
{
	uint64_t all_free = subtract_to_zero(span, waited);
	uint64_t free = min_time(subtract_to_zero(past, past_waited), all_free);

	if (ns <= all_free)
		return scale_by(ns, free, all_free);
	/* Short waits are reported as one, which may cover run time: so the thread ran in some waits, too. */
	return free + scale_by(ns - all_free, past - free, span - all_free);
}

static struct record_ran take_portion(struct run_spans *s, const struct select *a, uint64_t thread)
{
	struct run_spans_thread *t = &s->threads[thread];
	const struct record_ran r = t->pending;
	struct run_spans_waits p, w = t->pending_waits;
	uint64_t start = max_time(r.time - r.span, reported_until(s, a->capture)), span, waited, first, last;

	t->pending.time = 0;
	if (start > r.time - r.ns) /* the header's time contradicts the record */
		start = r.time - r.span;
	if (w.start < start && w.start < w.end) { /* a filter has cut the span, but not the waits */
		p = split_wait(a, t->pending_from, w.start, min_time(w.end, start));
		subtract_parts(&w, &p);
	}
	span = r.time - start;
	waited = w.before + w.within + w.after;
	p = split_wait(a, start, start, r.time);
	if (p.within == 0)
		return (struct record_ran){ .thread = r.thread };
	first = up_to(r.ns, p.before, w.before, span, waited);
	last = up_to(r.ns, p.before + p.within, w.before + w.within, span, waited);
	return (struct record_ran){ r.time - p.after, r.thread, last - first, p.within };
}

static bool is_pending(const struct run_spans *s, uint64_t thread, uint64_t until)
{
	return thread < s->n && s->threads[thread].pending.time && s->threads[thread].pending.time <= until;
}

/* Sets the thread whose spans up to *until are due before this record; returns false if there is none. */
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
		/* A wait that began in the span belongs to it, and has not been added yet. */
	if (r->type == RECORD_SAMPLE)
		*until = subtract_to_zero(r->sample.time,
					  capture_wait(c, r->sample.event) ? r->sample.weight : 0);
	return true;
}

/* A repeated group of the process changes nothing, and each forked process causes one. */
static bool changes_group(const struct capture *c, const struct record_member *r)
{
	uint32_t path;

	return r->process < c->n_processes && idmap_find(&c->cgroups, r->cgroup, &path) &&
	       c->processes[r->process].cgroup != path;
}

/* Sets *process to the one whose group or owner the record changes. Returns false if it changes none. */
static bool changes_process(const struct capture *c, const struct record *r, uint64_t *process)
{
	if (r->type == RECORD_MEMBER && changes_group(c, &r->member)) {
		*process = r->member.process;
		return true;
	}
	if (r->type != RECORD_OWNER || r->owner.process >= c->n_processes ||
	    c->processes[r->owner.process].owner == r->owner.user + 1)
		return false;
	*process = r->owner.process;
	return true;
}

/*
 * Returns whether the spans of all threads, or of all threads of a process, are due. A segment has one end.
 */
static bool makes_many_due(const struct capture *c, const struct record *r, uint64_t *process)
{
	*process = UINT64_MAX;
	return !r || r->type == RECORD_SEGMENT || (r->type == RECORD_END && !c->end_seen) ||
	       changes_process(c, r, process);
}

/* Adds the thread to the list of its process. Returns false if out of memory. */
static bool list_thread(struct run_spans *s, uint64_t thread, uint32_t process)
{
	struct run_spans_thread *t = &s->threads[thread];

	if (t->listed)
		return true;
	if (!grow_array(&s->lists, &s->cap_lists, process, sizeof(*s->lists)))
		return false;
	t->listed = true;
	t->other = s->lists[process];
	s->lists[process] = (uint32_t)thread + 1;
	return true;
}

/* Takes a thread with a pending span out of the list of the process. Returns false if there is none. */
static bool unlist_thread(struct run_spans *s, uint64_t process, uint64_t *thread)
{
	while (process < s->cap_lists && s->lists[process]) {
		*thread = s->lists[process] - 1;
		s->lists[process] = s->threads[*thread].other;
		s->threads[*thread].listed = false;
		if (is_pending(s, *thread, UINT64_MAX))
			return true;
	}
	return false;
}

bool run_spans_due(struct run_spans *s, const struct select *a, const struct record *r, struct record_ran *part)
{
	uint64_t until = UINT64_MAX, thread, process;

	if (!makes_many_due(a->capture, r, &process)) {
		if (!makes_due(a->capture, r, &thread, &until) || !is_pending(s, thread, until))
			return false;
		*part = take_portion(s, a, thread);
		return true;
	}
	if (process != UINT64_MAX) {
		if (!unlist_thread(s, process, &thread))
			return false;
		*part = take_portion(s, a, thread);
		return true;
	}
	for (; s->next < s->n; s->next++) {
		if (is_pending(s, s->next, until)) {
			*part = take_portion(s, a, s->next);
			return true;
		}
	}
	s->next = 0;
	return false;
}

static struct run_spans_thread *thread_of(struct run_spans *s, uint64_t thread)
{
	if (!grow_array(&s->threads, &s->cap, (size_t)thread, sizeof(*s->threads)))
		return NULL;
	s->n = thread < s->n ? s->n : (size_t)thread + 1;
	return &s->threads[thread];
}

bool run_spans_makes_sense(const struct record_ran *r)
{
	return r->ns <= r->span && r->span <= r->time;
}

bool run_spans_add(struct run_spans *s, const struct capture *c, const struct record_ran *r)
{
	struct run_spans_thread *t = thread_of(s, r->thread);

	if (!t || !list_thread(s, r->thread, c->threads[r->thread].process))
		return false;
	t->pending = *r;
	t->pending_from = t->from;
	t->pending_waits = t->waits;
	t->waits = (struct run_spans_waits){ 0 };
	t->from = r->time;
	return true;
}

bool run_spans_wait(struct run_spans *s, const struct select *a, const struct record_sample *r)
{
	uint64_t start = subtract_to_zero(r->time, r->weight);
	struct run_spans_waits p;
	struct run_spans_thread *t;

	if (!capture_wait(a->capture, r->event))
		return true;
	t = thread_of(s, r->thread);
	if (!t)
		return false;
	start = max_time(max_time(start, reported_until(s, a->capture)),
			 max_time(t->end, t->pending.time ? t->pending_from : t->from));
	if (start >= r->time)
		return true;
	t->end = r->time;
	if (t->pending.time && start < t->pending.time) {
		uint64_t middle = min_time(r->time, t->pending.time);

		p = split_wait(a, t->pending_from, start, middle);
		add_parts(&t->pending_waits, &p);
		start = middle;
	}
	if (start < r->time) {
		p = split_wait(a, t->from, start, r->time);
		add_parts(&t->waits, &p);
	}
	return true;
}

void run_spans_forget(struct run_spans *s)
{
	if (s->n)
		memset(s->threads, 0, s->n * sizeof(*s->threads));
	clear_array(&s->lists, &s->cap_lists, sizeof(*s->lists));
	s->n = s->next = 0;
	s->since_known = false;
}

void run_spans_release(struct run_spans *s)
{
	free(s->threads);
	free(s->lists);
	*s = (struct run_spans){ 0 };
}
