/*
 * Pads the runs of a profile to one common weight, so that a share of a run is a weight. changes.h then tests
 * weights as they are, not shares that add up to 100 %: more work in one function takes nothing from others.
 *
 *	uint64_t total[PROFILE_SIDES] = { p.total[0], p.total[1] };
 *	struct changes_setup setup = { .unit = { 1, 1 }, .runs = { 3, 3 } };
 *
 *	if (!pad_runs(&p, setup.runs) || !changes_init(&c, &table, &p, &setup)) ...out of memory...
 *	...an interval of c times p.total[0] is a weight, over all runs of a side...
 *	memcpy(p.total, total, sizeof(total));
 *
 * The weight is PAD_TIMES that of the heaviest run, so that all shares are small: the variance of a rare part
 * is that of its own samples.
 */
#ifndef CPROF_STATS_PAD_RUNS_H
#define CPROF_STATS_PAD_RUNS_H

#include "common/profile/profile.h"

enum { PAD_TIMES = 1000 }; /* less if the sum would not fit into 64 bits */

/*
 * runs: of each side, those of side 0 first; they must have moments. The table must be made before. Returns
 * false if out of memory.
 */
bool pad_runs(struct profile *p, const uint32_t *runs);

#endif
