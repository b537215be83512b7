/*
 * From a gatherer's sums to stacks of its profile: names the ids, puts stacks together and adds them.
 *
 *	if (!gather_stacks_add(g, NULL)) ...out of memory...
 *
 * For gather.c, when a segment has ended, or when gather_look is called before that.
 */
#ifndef CPROF_GATHER_GATHER_STACKS_H
#define CPROF_GATHER_GATHER_STACKS_H

#include "common/gather/gather.h"

/*
 * Adds the sums of the segment to the profile and to the gatherer's sums. but: by key, the sums already
 * taken, which are left out; NULL: none. Returns false if out of memory.
 */
bool gather_stacks_add(struct gather *g, const struct gather_sum *but);

#endif
