/*
 * Each segment chooses the event that counts by default: the clock's if it has one, otherwise the first
 * counted one. If segments choose differently, ticks and page faults for example, their sum has no unit, and
 * the tool must say so.
 *
 *	struct mixed_events alike = { 0 };
 *	struct view view = { .alike = &alike };
 *
 *	...gather.h and others that sum what the view shows, for each event of a segment that they add...
 *	if (!mixed_events_add(view.alike, &capture, event))
 *		...out of memory...
 *	...
 *	if (alike.other.n)
 *		...alike.other, which is counted if alike.other_counted, does not add up with alike.first...
 *	mixed_events_release(&alike);
 *
 * All events that are not counted add up, whether time or cycles, because views add up their samples. A
 * counted event adds up with counted events of the same name only.
 */
#ifndef CPROF_SELECT_MIXED_EVENTS_H
#define CPROF_SELECT_MIXED_EVENTS_H

#include "common/base/buf.h"
#include "common/select/view.h"

/* Starts all zero. The names are as labels. */
struct mixed_events {
	struct buf first, other; /* other: the first event that does not add up with first; empty: all do */
	bool first_counted, other_counted;
};

/* Returns whether the view leaves the choice to each segment and sums the chosen events. */
bool mixed_events_matters(const struct view *v);
/* Records that samples of this event of the segment were summed. Returns false if out of memory. */
bool mixed_events_add(struct mixed_events *a, const struct capture *c, uint64_t event);
void mixed_events_release(struct mixed_events *a);

#endif
