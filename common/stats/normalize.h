/*
 * Scales two sides of a profile to the same total, in whole numbers.
 *
 *	if (!normalize(&profile)) ...out of memory...
 *	...profile.total[0] == profile.total[1], and each is the sum of its side...
 *
 * Side 0 is scaled to the total of side 1. No stack's weight is off by 1 or more, and the same stacks are
 * rounded up in whatever order they were added. If a side is empty, nothing is done.
 */
#ifndef CPROF_STATS_NORMALIZE_H
#define CPROF_STATS_NORMALIZE_H

#include "common/profile/profile.h"

/* Returns false if out of memory; the profile is then unchanged. */
bool normalize(struct profile *p);

#endif
