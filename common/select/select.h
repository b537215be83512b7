/*
 * Decides which samples of a capture a view counts, and how much of each.
 *
 *	struct select select = { &view, &capture, base };
 *	struct record_sample part;
 *
 *	if (select_sample(&select, &r->sample, &part) == SELECT_IN)
 *		...count part...
 *
 * Every reader of samples asks here and nowhere else. Run time is handled in run_spans.h, which calls
 * select_overlap.
 */
#ifndef CPROF_SELECT_SELECT_H
#define CPROF_SELECT_SELECT_H

#include "common/select/view.h"
#include "common/stream/segment_extent.h"

/* A view of a capture. base: see select_base. */
struct select {
	const struct view *view;
	const struct capture *capture;
	uint64_t base;
};

enum select_answer {
	SELECT_OUT,
	SELECT_OTHERS, /* rejected only because of its thread */
	SELECT_IN,
};

/*
 * Decides about a sample that the capture has accepted. Unless the answer is SELECT_OUT, *part is the counted part:
 * the sample, or the part of a wait inside the view's time window.
 */
enum select_answer select_sample(const struct select *s, const struct record_sample *r,
				 struct record_sample *part);
/*
 * Returns the time from which offsets of a view count, given the time of the first sample. If waits are
 * recorded it is the capture's beginning, because the first sample may end a wait that began then or before.
 */
uint64_t select_base(const struct capture *c, uint64_t first);
/* Decides by the time alone. */
bool select_by_time(const struct select *s, const struct record_sample *r, struct record_sample *part);

/*
 * Returns how many of the n nanoseconds before time are in the view's time window. *after: nanoseconds from
 * the end of the last of them to time.
 */
uint64_t select_overlap(const struct select *s, uint64_t time, uint64_t n, uint64_t *after);
/* Returns whether this time of the capture is inside the view's time window. */
bool select_moment(const struct select *s, uint64_t time);
/* Returns whether the thread of the capture passes the view's filters by process, thread, group and label. */
bool select_thread(const struct select *s, uint64_t thread);

/*
 * If the view's window is in clock time, a segment wholly outside it is left out, with its ticks and losses.
 * A reader that has select_wants as its choice (context: the view) skips such a segment; a capture that was
 * given select_counts leaves it out of its totals. Both go by struct segment_extent: the times of the
 * segment's first sample and of its END, and, if waits are shown, how far they reach back.
 */
bool select_by_clock(const struct view *v);
bool select_wants(const void *view, const struct segment_extent *x);
bool select_counts(const void *view, const struct capture *c);

/* Returns whether the event is waits: "off-cpu", or one kind of them, as "off-cpu:sleep". */
bool select_names_waits(const char *event);
/* Returns whether the view names this event or its family; false if the view names no events. */
bool select_names_event(const struct view *v, struct slice name);
/* Returns whether the capture's event with this number passes the view's filter of events. */
bool select_lists_event(const struct view *v, const struct capture *c, uint64_t event);

#endif
