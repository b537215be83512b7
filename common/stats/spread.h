/*
 * How much shares of a profile vary between its parts: blocks of time, or runs.
 *
 *	struct spread s;
 *
 *	spread_init(&s, &profile, SPREAD_BLOCKS, timed);
 *	if (s.clusters[0] >= SPREAD_LEAST)
 *		v = spread_variance(&s, 0, label, SPREAD_CUM);	// of the share of all samples
 *	spread_release(&s);
 *
 * Samples come in bursts: a garbage collection, a request, a phase. What varies between parts that are longer than
 * a burst holds all of that, whatever its shape, and is measured where the profile has moments. A share is the
 * ratio of two sums over the parts, so its variance is that of the ratio estimator (W. G. Cochran, Sampling
 * Techniques, 1977, chapter 6), and parts of different weight are no error.
 */
#ifndef CPROF_STATS_SPREAD_H
#define CPROF_STATS_SPREAD_H

#include "common/profile/profile.h"

enum spread_by {
	SPREAD_BLOCKS, /* equal lengths of time: SPREAD_BLOCKS_A_SIDE to twice as many, where the slices are so many */
	SPREAD_RUNS,   /* captures, or files */
};
enum { SPREAD_FLAT, SPREAD_CUM, SPREAD_KINDS };
/* Parts longer than bursts are worth more than many parts. With fewer than the least there is little to be known. */
enum { SPREAD_BLOCKS_A_SIDE = 30, SPREAD_LEAST = 20 };

struct spread_sums {
	double x, xx, xn; /* weight of a name in a part, its square, and its product with the part's weight, summed up */
};

struct spread {
	uint32_t clusters[PROFILE_SIDES]; /* parts; 0 where the side was left out */
	uint32_t slices[PROFILE_SIDES];   /* of time in a block */
	double n[PROFILE_SIDES], nn[PROFILE_SIDES];
	struct spread_sums (*sums)[SPREAD_KINDS][PROFILE_SIDES]; /* by label; NULL where no side has parts */
};

/* Sides for which use is false are left out. False without memory; the object can be released all the same. */
bool spread_init(struct spread *s, const struct profile *p, enum spread_by by, const bool *use);
/* Of a name's share; 0 with fewer than two parts. */
double spread_variance(const struct spread *s, unsigned int side, uint32_t label, unsigned int kind);
void spread_release(struct spread *s);

#endif
