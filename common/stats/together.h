/*
 * How many functions that vary from run to run of themselves are there?
 *
 *	double n = together_independent(&profile, use, labels, n_labels);	// from 1 to n_labels; 0 without memory
 *
 * Where all of a program's functions come and go with one of its phases, a thousand of them know no more about how
 * much runs differ than one does. Each function's deviations from its share, one a run, are a direction; those of
 * functions that have nothing to do with each other have squared correlations of 1 / degrees of freedom on the average,
 * and what they have beyond that tells how many there are in truth (n / (1 + (n - 1) * r^2), as the design effect of a
 * cluster sample).
 */
#ifndef CPROF_STATS_TOGETHER_H
#define CPROF_STATS_TOGETHER_H

#include "common/profile/profile.h"

/* Of the weight that ends in these labels. use: sides whose runs count; others are left out. */
double together_independent(const struct profile *p, const bool *use, const uint32_t *labels, size_t n);

#endif
