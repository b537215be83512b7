/*
 * Tests whether a share changed between two profiles.
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
 * Samples count as independent of each other unless design is set. It is L. Kish's design effect: the
 * variance of the share divided by that of independent samples. k and n are divided by it, so that 50 samples
 * from one burst weigh as much as one.
 *
 * If a cell of the two-by-two table is expected to be below COMPARE_SMALL, the test is R. A. Fisher's exact
 * one, two-sided by the probability of the tables. Otherwise it is the pooled two-proportion z-test. The
 * interval is R. G. Newcombe's (Statistics in Medicine 17, 1998, method 10), which combines two of Wilson's.
 */
#ifndef CPROF_STATS_COMPARE_H
#define CPROF_STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/interval.h"

#define COMPARE_RATE 0.05     /* rate of false discoveries among reported changes */
#define COMPARE_SMALL 20.0    /* expected samples in a cell; below, the exact test is used */
#define COMPARE_POWER_80 0.8416212335729143 /* standard deviations; 20 % are above */

struct compare {
	double k[2], n[2]; /* samples of the part compared, and of all, before and after; k <= n */
	double design;     /* at least 1; 0 means 1 */
	double df;         /* degrees of freedom of the estimate of design; 0: it is exact */
};

/* Returns the probability of such a difference or more if nothing changed; 1 if a side has no samples. */
double compare_p(const struct compare *c);

/* Returns the interval of the share after minus before. z: INTERVAL_95, or compare_critical(0.05, df). */
struct interval compare_interval(const struct compare *c, double z);

/*
 * Returns the least p value that this number of samples can have, however they are split between the sides:
 * too few samples can never show a change.
 */
double compare_least_p(const struct compare *c);

/*
 * Returns the smallest growth of the share (k[0] + k[1]) / (n[0] + n[1]) that would be found with the given
 * power. power: in standard deviations, such as COMPARE_POWER_80. critical: the standard deviations that a
 * difference needs to be significant. INFINITY if no growth would be found.
 */
double compare_detectable(const struct compare *c, double critical, double power);

/* Returns the standard deviations from 0 that chance exceeds on either side with probability alpha. */
double compare_critical(double alpha, double df);

/*
 * Computes the q values of Y. Benjamini and Y. Hochberg (JRSS B 57, 1995): for each p, the smallest false
 * discovery rate at which it is a discovery. least: NULL, or the least p that each test could have. Tests
 * that could not have passed at this rate are not counted and get 1 (P. B. Gilbert, JRSS C 54, 2005, after R.
 * E. Tarone): they carry no information and would cost the others power. Returns false if out of memory.
 */
bool compare_adjust(const double *p, const double *least, size_t n, double rate, double *q);

/* The parts, for separate use. */
double compare_exact(double k1, double n1, double k2, double n2); /* p value of whole numbers */
double compare_z(double k1, double n1, double k2, double n2);     /* standard deviations, signed */
double compare_tail(double z, double df);                         /* probability beyond z and -z */

#endif
