/*
 * The confidence interval of a share of samples.
 *
 *	struct interval i = interval_wilson(12, 600, INTERVAL_95);
 *
 *	...the share 12/600 is 2 %, and between i.low and i.high...
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 * Unlike the interval of most text books it is valid for small counts and never leaves 0 to 1. It assumes
 * independent samples; for samples in bursts the true interval is wider.
 */
#ifndef CPROF_STATS_INTERVAL_H
#define CPROF_STATS_INTERVAL_H

#define INTERVAL_95 1.959963984540054

struct interval {
	double low, high;
};

/* Returns the interval of k of n, in shares from 0 to 1; all of that if n is 0. z: standard deviations. */
struct interval interval_wilson(double k, double n, double z);

#endif
