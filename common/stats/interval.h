/*
 * How far a share of samples may lie from the truth.
 *
 *	struct interval i = interval_wilson(12, 600, INTERVAL_95);
 *
 *	...the share 12/600 is 2 %, and between i.low and i.high...
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927): unlike the
 * interval of most text books it is right for small counts, and never leaves 0 to 1. It takes samples for
 * independent; where they come in bursts the truth is wider.
 */
#ifndef CPROF_STATS_INTERVAL_H
#define CPROF_STATS_INTERVAL_H

#define INTERVAL_95 1.959963984540054

struct interval {
	double low, high;
};

/* k of n, as shares of 1; 0 to 1 where n is 0. z: how many standard deviations. */
struct interval interval_wilson(double k, double n, double z);

#endif
