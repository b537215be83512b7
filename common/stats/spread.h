/*
 * How much shares of a profile vary between its parts: blocks of time, or runs.
 *
 *	struct spread s;
 *
 *	spread_names(&s, &profile, SPREAD_BLOCKS, timed);
 *	if (s.clusters[0] >= SPREAD_LEAST)
 *		v = spread_variance(&s, 0, spread_name(label, SPREAD_CUM));	// of the share of all samples
 *	spread_release(&s);
 *
 * Samples come in bursts: a garbage collection, a request, a phase. What varies between parts that are longer than
 * a burst holds all of that, whatever its shape, and is measured where the profile has moments. A share is the
 * ratio of two sums over the parts, so its variance is that of the ratio estimator (W. G. Cochran, Sampling
 * Techniques, 1977, chapter 6), and parts of different weight are no error.
 *
 * A burst that is about as long as a block lies in two, and both vary with it: so twice the covariance of a block with
 * the next one is added, and with the next but one, where that makes more (the long-run variance of time series). It
 * is the variance between longer blocks, but known better than from so few of them.
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
enum { SPREAD_LAGS = 2 };
#define SPREAD_NONE UINT32_MAX

/* Weight of a unit in a part; its products with that of the part so many later, and with that part's whole. */
struct spread_sums {
	double x;
	struct {
		double xx, xn;
	} lag[SPREAD_LAGS + 1];
};

struct spread {
	uint32_t clusters[PROFILE_SIDES]; /* parts; 0 where the side was left out */
	uint32_t slices[PROFILE_SIDES];   /* of time in a block */
	unsigned int lags; /* 0 for runs, of which none knows the next */
	double n[PROFILE_SIDES], nn[PROFILE_SIDES][SPREAD_LAGS + 1];
	struct spread_sums (*sums)[PROFILE_SIDES]; /* by unit: spread_name, or the number of a node; NULL without parts */
};

static inline uint32_t spread_name(uint32_t label, unsigned int kind)
{
	return label * SPREAD_KINDS + kind;
}

/* Sides for which use is false are left out. False without memory; the object can be released all the same. */
bool spread_names(struct spread *s, const struct profile *p, enum spread_by by, const bool *use);
/* The same of nodes with all below them. numbers: for each node of the profile a number below n, or SPREAD_NONE. */
bool spread_nodes(struct spread *s, const struct profile *p, enum spread_by by, const bool *use, const uint32_t *numbers,
		  size_t n);
/* Of a unit's share; 0 with fewer than two parts. */
double spread_variance(const struct spread *s, unsigned int side, uint32_t unit);
/* What parts that are lag apart add to it, once. */
double spread_covariance(const struct spread *s, unsigned int side, uint32_t unit, unsigned int lag);
/* Degrees of freedom of the variance of both sides together. */
double spread_degrees(const struct spread *s);
void spread_release(struct spread *s);

#endif
