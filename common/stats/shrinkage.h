/*
 * Improves design effects measured from a few runs by those of many other functions.
 *
 *	struct shrinkage m;
 *
 *	shrinkage_fit(&m, list, n, df, n);	// each with df degrees of freedom, all independent
 *	design = shrinkage_one(&m, list[i].design, list[i].size);	// as if with m.df
 *
 * Differences between runs are proportional to a function's size, so large functions have larger design
 * effects: 1 + slope * size overall, as in the negative binomial distribution. G. K. Smyth, "Linear models
 * and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3 (2004), estimates how close each one is to
 * that trend. It takes the true variances as scaled inverse chi-squared, and estimates their similarity from
 * how much the measured ones differ beyond chance.
 */
#ifndef CPROF_STATS_SHRINKAGE_H
#define CPROF_STATS_SHRINKAGE_H

#include <stdbool.h>
#include <stddef.h>

struct shrinkage_value {
	double design, size; /* size: samples times the share of all others, see designs_size */
};

struct shrinkage {
	double slope;
	double prior;    /* design effects are moved towards this multiple of the trend */
	double prior_df; /* weight of the prior; 0: none, INFINITY: only the prior counts */
	double own_df;
	double df;       /* degrees of freedom of the moderated values */
};

/*
 * Fits the trend and the prior. df: degrees of freedom of each value. alone: the effective number of
 * independent values, at most n; values that vary together look alike and carry no more information than one.
 * With fewer than three values, or if most are 0, nothing is moved. Returns false if out of memory.
 */
bool shrinkage_fit(struct shrinkage *m, const struct shrinkage_value *list, size_t n, double df, double alone);
/* Returns the moderated design effect. */
double shrinkage_one(const struct shrinkage *m, double design, double size);

#endif
