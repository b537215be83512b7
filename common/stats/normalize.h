/*
 * Two sides of a profile at one scale, in whole numbers.
 *
 *	if (!normalize(&profile)) ...out of memory...
 *	...profile.total[0] == profile.total[1], and each is the sum of its side...
 *
 * Side 0 is scaled to the total of side 1; no stack's weight is off by 1 or more, and the same stacks are rounded up
 * whatever order they came in. Where a side is empty nothing is done.
 */
#ifndef CPROF_STATS_NORMALIZE_H
#define CPROF_STATS_NORMALIZE_H

#include "common/profile/profile.h"

/* False without memory; nothing has changed then. */
bool normalize(struct profile *p);

#endif
