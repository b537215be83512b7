/*
 * What a thread ran in a span of time is told in one record, RAN, and where in the span that was is not. A view may ask for a part
 * of the span. The thread ran where it did not wait, and the waits are in the capture: so the part has the share of the running
 * time that it has of the time without waits.
 *
 *	struct portions portions = { 0 };
 *	struct asked asked = { &view, &capture, base };
 *	struct record_ran part;
 *
 *	while (portions_due(&portions, &asked, r, &part))	// before anything else is made of the record
 *		...part.thread ran for part.ns in the part.span before part.time; span 0: at no time that the view asks for...
 *	if (r->type == RECORD_RAN && portions_makes_sense(&r->ran) && !portions_tell(&portions, &r->ran))
 *		...out of memory...
 *	if (r->type == RECORD_SAMPLE && !portions_wait(&portions, &asked, &r->sample))
 *		...out of memory...
 *	...
 *	while (portions_due(&portions, &asked, NULL, &part))	// behind the last record
 *	portions_release(&portions);
 *
 * The wait in which a span ends is told behind the RAN. So that one is kept until something tells that there is no more of it to
 * come: a later sample of the thread, its next RAN, a new name, another control group, the end of the segment.
 *
 * The share is counted from the span's beginning up to each edge, and rounded there: parts side by side, of whatever views,
 * make the whole to the nanosecond. Of a span that began before the segment, what lies before it is such a part too, and no part is
 * told of it. Nothing was run before the header's word of when all that had been was told.
 */
#ifndef CPROF_PROFILE_PORTIONS_H
#define CPROF_PROFILE_PORTIONS_H

#include "common/profile/view.h"

/* What counts, and of what; base: time of the capture's first sample. */
struct asked {
	const struct view *view;
	const struct capture *capture;
	uint64_t base;
};

/* Waits of a span: what lies before that which the view asks for, in it, and behind it; and when the first of them was. */
struct portions_waits {
	uint64_t before, within, behind;
	uint64_t start, end;
};

struct portions {
	struct portions_thread {
		uint64_t from, end;           /* the time of the last RAN; up to where waits are known */
		struct portions_waits waits;  /* since from */
		struct record_ran told;       /* the last RAN, until it is due; time 0: none */
		uint64_t told_from;           /* what were from and waits when it came */
		struct portions_waits told_waits;
	} *threads;
	size_t cap, n; /* n: behind the last that the segment tells of */
	size_t next;   /* to look at, where all are due */
	uint64_t since; /* of the segment */
	bool since_known;
};

/* What is due before this record, which may be any, and make no sense; call it until it is false. NULL: all that is not told of yet. */
bool portions_due(struct portions *s, const struct asked *a, const struct record *r, struct record_ran *part);
/* Did it not run for longer than the span, and that is not longer than all time? */
bool portions_makes_sense(const struct record_ran *r);
/* Such a one, of a defined thread, and nothing is due before it; false without memory. */
bool portions_tell(struct portions *s, const struct record_ran *r);
/* A sample of a defined thread, of which only a wait counts here; false without memory. */
bool portions_wait(struct portions *s, const struct asked *a, const struct record_sample *r);
/* Another segment begins. */
void portions_forget(struct portions *s);
void portions_release(struct portions *s);

#endif
