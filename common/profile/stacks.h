/*
 * From a gatherer's sums to stacks of its profile: what is known by ids is named, put together and added.
 *
 *	if (!stacks_add(g, NULL)) ...out of memory...
 *
 * For gather.c, when a segment has ended, or someone looks on before that.
 */
#ifndef CPROF_PROFILE_STACKS_H
#define CPROF_PROFILE_STACKS_H

#include "common/profile/gather.h"

/*
 * Adds what the segment has to the profile, and to the gatherer's sums. but: by key, what has been taken before and is
 * left out; NULL: nothing. False without memory.
 */
bool stacks_add(struct gather *g, const struct gather_sum *but);

#endif
