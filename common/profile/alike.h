/*
 * Which events count by default is chosen segment by segment: the clock's where it has a clock, else the first that is counted.
 * Where segments chose differently, ticks and page faults say, the sum is one of nothing, and whoever adds up has to know.
 *
 *	struct alike alike = { 0 };
 *	struct view view = { .alike = &alike };
 *
 *	...gather.h and others that add up what the view shows, for whatever they add of a segment's event...
 *	if (!alike_add(view.alike, &capture, event))
 *		...out of memory...
 *	...
 *	if (alike.other.n)
 *		...alike.other, which is counted if alike.other_counted, does not go with alike.first...
 *	alike_release(&alike);
 *
 * All that is not counted goes together, be it time or cycles: views add up its samples. What is counted goes with what has the
 * same name.
 */
#ifndef CPROF_PROFILE_ALIKE_H
#define CPROF_PROFILE_ALIKE_H

#include "common/base/buf.h"
#include "common/profile/view.h"

/* All zero to begin with. The names are as labels. */
struct alike {
	struct buf first, other; /* other: of what came first that does not go with the first; empty: all goes together */
	bool first_counted, other_counted;
};

/* Does the view leave the choice to each segment, and add up what is chosen? */
bool alike_matters(const struct view *v);
/* Something of this event of the segment is added up, be it by its own name or as what is not counted. False without memory. */
bool alike_add(struct alike *a, const struct capture *c, uint64_t event);
void alike_release(struct alike *a);

#endif
