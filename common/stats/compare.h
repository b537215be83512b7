/*
 * Did a share change between two profiles, or is it chance?
 *
 *	struct compare c = { .k = { 120, 180 }, .n = { 6000, 6000 } };
 *	struct interval i;
 *
 *	p[row] = compare_p(&c);				// for each row...
 *	compare_adjust(p, NULL, rows, COMPARE_RATE, q);	// ...and for all of them together
 *	if (q[row] < COMPARE_RATE)
 *		...it changed: fewer than 5 % of all rows that pass this are expected to be chance...
 *	i = compare_interval(&c, INTERVAL_95);		// the change is 1 % of all, and lies within i
 *
 * Samples are taken for independent of each other unless design says otherwise: it is how many times more the
 * share varies than it would then (L. Kish's design effect). k and n are divided by it, so that 50 samples that
 * came in one burst weigh as much as one.
 *
 * Where a cell of the two-by-two table is expected below COMPARE_SMALL the test is R. A. Fisher's exact one,
 * two-sided by the probability of the tables; else it is the two-proportion z-test, pooled. The interval is
 * R. G. Newcombe's (Statistics in Medicine 17, 1998, method 10), which is made of two of Wilson's.
 */
#ifndef CPROF_STATS_COMPARE_H
#define CPROF_STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/interval.h"

#define COMPARE_RATE 0.05     /* of false discoveries among all that are called changes */
#define COMPARE_SMALL 20.0    /* expected samples in a cell below which the exact test is taken */
#define COMPARE_POWER_80 0.8416212335729143 /* standard deviations above which 20 % lie */

struct compare {
	double k[2], n[2]; /* samples of what is compared, and of all, before and after; no more k than n */
	double design;     /* 1 and above; 0 stands for 1 */
	double df;         /* degrees of freedom with which design was estimated; 0: it is known */
};

/* How likely a difference of this size or more is where nothing changed; 1 where a side has no samples. */
double compare_p(const struct compare *c);

/* The difference of the shares, after less before, from low to high. z: INTERVAL_95, or compare_critical(0.05, df). */
struct interval compare_interval(const struct compare *c, double z);

/* No p value of so many samples, however they fall on the sides, is below this: too few can never show a change. */
double compare_least_p(const struct compare *c);

/*
 * The smallest growth of a share, from (k[0] + k[1]) / (n[0] + n[1]) on, that would be called a change in so many of
 * all cases as power says, in standard deviations: COMPARE_POWER_80. critical: how many of them a difference needs to
 * be called a change. Infinite where no growth would do.
 */
double compare_detectable(const struct compare *c, double critical, double power);

/* The distance from 0, in standard deviations, that chance exceeds on either side with probability alpha. */
double compare_critical(double alpha, double df);

/*
 * Y. Benjamini and Y. Hochberg's q values (JRSS B 57, 1995): for each p the smallest rate of false discoveries at
 * which it is one of them. least: NULL, or the least p that each test could have had. Those that could not have
 * passed at this rate anyhow are then left out of the count and get 1 (P. B. Gilbert, JRSS C 54, 2005, after
 * R. E. Tarone): they say nothing, and would cost the others power. False without memory.
 */
bool compare_adjust(const double *p, const double *least, size_t n, double rate, double *q);

/* The parts, for who needs one alone. */
double compare_exact(double k1, double n1, double k2, double n2); /* whole numbers */
double compare_z(double k1, double n1, double k2, double n2);     /* the standard deviations, of either sign */
double compare_tail(double z, double df);                         /* beyond z and -z; df 0: the normal distribution */

#endif
