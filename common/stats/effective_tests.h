/*
 * The effective number of functions that vary independently between runs.
 *
 *	double n = effective_tests_independent(&profile, use, labels, n_labels);	// 0: out of memory
 *
 * If all functions of a program come and go with one of its phases, a thousand of them say no more about the
 * differences between runs than one does. Each function's deviations from its share, one per run, are a
 * direction. Directions of independent functions have squared correlations of 1 / degrees of freedom on
 * average. A larger correlation gives the effective number: n / (1 + (n - 1) * r^2), as the design effect of
 * a cluster sample.
 */
#ifndef CPROF_STATS_EFFECTIVE_TESTS_H
#define CPROF_STATS_EFFECTIVE_TESTS_H

#include "common/profile/profile.h"

/*
 * Counts the weight that ends in these labels. use: sides whose runs count; others are left out. Returns 1 to
 * n, or 0 if out of memory.
 */
double effective_tests_independent(const struct profile *p, const bool *use, const uint32_t *labels, size_t n);

#endif
