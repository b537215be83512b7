/*
 * The part of a thread's run time that lies in a view's window. A RAN record says how long a thread ran in a
 * span of time, but not when. The thread ran while it did not wait, and the waits are in the capture. Run
 * time is divided over the span in proportion to the time not spent waiting.
 *
 *	struct run_spans portions = { 0 };
 *	struct select select = { &view, &capture, base };
 *	struct record_ran part;
 *
 *	while (run_spans_due(&portions, &select, r, &part))	// before the record is used otherwise
 *		...part.thread ran for part.ns in the part.span before part.time; span 0: not in the window
 *	if (r->type == RECORD_RAN && run_spans_makes_sense(&r->ran) && !run_spans_add(&portions, &r->ran))
 *		...out of memory...
 *	if (r->type == RECORD_SAMPLE && !run_spans_wait(&portions, &select, &r->sample))
 *		...out of memory...
 *	...
 *	while (run_spans_due(&portions, &select, NULL, &part))	// after the last record
 *	run_spans_release(&portions);
 *
 * The wait in which a span ends is reported after the RAN. So the RAN is kept until its waits are complete:
 * until a later sample of the thread, its next RAN, a new name, another control group, or the end of the
 * segment.
 *
 * The share is counted from the span's beginning up to each edge, and rounded there: adjacent parts, of any
 * views, add up to the whole to the nanosecond. If a span began before the segment, its time before the
 * segment is such a part too, and is not reported. No span has run time before META_WAITS_SINCE in the
 * header, because run time up to then was reported earlier.
 */
#ifndef CPROF_SELECT_RUN_SPANS_H
#define CPROF_SELECT_RUN_SPANS_H

#include "common/select/select.h"

/* Waits of a span in ns: before, inside and after the view's window; start and end of the first one. */
struct run_spans_waits {
	uint64_t before, within, after;
	uint64_t start, end;
};

struct run_spans {
	struct run_spans_thread {
		uint64_t from, end;           /* time of the last RAN; time up to which waits are known */
		struct run_spans_waits waits; /* since from */
		struct record_ran pending;    /* the last RAN, until it is due; time 0: none */
		uint64_t pending_from;        /* from and waits as they were when pending came */
		struct run_spans_waits pending_waits;
		uint32_t other; /* the next in the list of its process, + 1; 0: none */
		bool listed;    /* it is in that list */
	} *threads;
	size_t cap, n; /* n: one past the last thread that the segment mentions */
	uint32_t *lists; /* by process: first of the threads that may have a span pending, + 1; 0: none */
	size_t cap_lists;
	size_t next;   /* the next thread to check when all are due */
	uint64_t since; /* META_WAITS_SINCE of the segment */
	bool since_known;
};

/*
 * Sets *part to the next part that is due before this record, which may be of any type and may be invalid;
 * call it until it returns false. NULL: all parts that are left.
 */
bool run_spans_due(struct run_spans *s, const struct select *a, const struct record *r, struct record_ran *part);
/* Returns whether the thread ran no longer than the span, and the span does not begin before time 0. */
bool run_spans_makes_sense(const struct record_ran *r);
/* Takes a valid RAN of a defined thread, before which nothing is due; returns false if out of memory. */
bool run_spans_add(struct run_spans *s, const struct capture *c, const struct record_ran *r);
/* Takes a sample of a defined thread; samples other than waits do nothing. Returns false if out of memory. */
bool run_spans_wait(struct run_spans *s, const struct select *a, const struct record_sample *r);
/* Clears all threads, for the next segment. */
void run_spans_forget(struct run_spans *s);
void run_spans_release(struct run_spans *s);

#endif
