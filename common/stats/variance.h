/*
 * Measures how much shares of a profile vary between its parts: blocks of time, or runs.
 *
 *	struct variance s;
 *
 *	variance_names(&s, &profile, VARIANCE_BLOCKS, timed);
 *	if (s.clusters[0] >= VARIANCE_LEAST)
 *		v = variance_variance(&s, 0, variance_name(label, VARIANCE_CUM));	// of the share of all samples
 *	variance_release(&s);
 *
 * Samples come in bursts: a garbage collection, a request, a phase. The variance between parts that are
 * longer than a burst includes the bursts, whatever their shape. It is measured if the profile has moments. A
 * share is the ratio of two sums over the parts, so its variance is that of the ratio estimator (W. G.
 * Cochran, Sampling Techniques, 1977, chapter 6), and parts may differ in weight.
 *
 * A burst about as long as a block falls into two blocks, and both vary with it. So twice the covariance of a
 * block with the next one is added, and with the next but one, if that gives more (the long-run variance of
 * time series). It equals the variance between longer blocks, but is known more precisely than from their
 * smaller number.
 */
#ifndef CPROF_STATS_VARIANCE_H
#define CPROF_STATS_VARIANCE_H

#include "common/profile/profile.h"

enum variance_by {
	VARIANCE_BLOCKS, /* equal lengths: VARIANCE_BLOCKS_A_SIDE to twice as many, if there are enough slices */
	VARIANCE_RUNS,   /* captures, or files */
};
enum { VARIANCE_FLAT, VARIANCE_CUM, VARIANCE_KINDS };
/* Parts longer than bursts are better than many parts. Fewer than VARIANCE_LEAST parts say little. */
enum { VARIANCE_BLOCKS_A_SIDE = 30, VARIANCE_LEAST = 20 };
enum { VARIANCE_LAGS = 2 };
#define VARIANCE_NONE UINT32_MAX

/*
 * Sums over the parts, where x is the weight of a unit and n that of the whole part: x; and the products of x
 * with the x and n of the part lag parts later.
 */
struct variance_sums {
	double x;
	struct {
		double xx, xn;
	} lag[VARIANCE_LAGS + 1];
};

struct variance {
	uint32_t clusters[PROFILE_SIDES]; /* number of parts; 0: the side was left out */
	uint32_t slices[PROFILE_SIDES];   /* slices of time in a block */
	unsigned int lags; /* 0 for runs, which are independent */
	double n[PROFILE_SIDES], nn[PROFILE_SIDES][VARIANCE_LAGS + 1];
	struct variance_sums (*sums)[PROFILE_SIDES]; /* by unit: variance_name, or node's number; or NULL */
};

/* Returns the unit of a label. kind: VARIANCE_FLAT or VARIANCE_CUM. */
static inline uint32_t variance_name(uint32_t label, unsigned int kind)
{
	return label * VARIANCE_KINDS + kind;
}

/*
 * Measures the names of the profile. Sides for which use is false are left out. Returns false if out of
 * memory; release the object in any case.
 */
bool variance_names(struct variance *s, const struct profile *p, enum variance_by by, const bool *use);
/*
 * As variance_names, for subtrees of nodes. numbers: by node of the profile, a number below n or VARIANCE_NONE.
 */
bool variance_nodes(struct variance *s, const struct profile *p, enum variance_by by, const bool *use, const uint32_t *numbers,
		  size_t n);
/* Returns the variance of a unit's share; 0 with fewer than two parts. */
double variance_variance(const struct variance *s, unsigned int side, uint32_t unit);
/* Returns the contribution to the variance of parts that are lag apart, counted once. */
double variance_covariance(const struct variance *s, unsigned int side, uint32_t unit, unsigned int lag);
/* Returns the degrees of freedom of the variance of both sides together. */
double variance_degrees(const struct variance *s);
void variance_release(struct variance *s);

#endif
