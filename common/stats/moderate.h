/*
 * Design effects that a few runs measured, made better by those of many others.
 *
 *	struct moderate m;
 *
 *	moderate_fit(&m, list, n, df, n);	// each was measured with df degrees of freedom, and all of them alone
 *	design = moderate_one(&m, list[i].design, list[i].size);	// as if with m.df
 *
 * What differs between runs beyond chance is a part of the function's own size, so large ones have larger design
 * effects: 1 + slope * size on the whole, as in the negative binomial distribution. How near each is to that is the
 * second question: G. K. Smyth, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3 (2004),
 * takes the true variances for scaled inverse chi-squared and reads how alike they are from how much the measured
 * ones differ, less what chance alone would make them differ.
 */
#ifndef CPROF_STATS_MODERATE_H
#define CPROF_STATS_MODERATE_H

#include <stdbool.h>
#include <stddef.h>

struct moderate_value {
	double design, size; /* size: samples, times the share that is something else */
};

struct moderate {
	double slope;
	double prior;    /* what designs are moved towards, as multiples of what the slope says */
	double prior_df; /* how much weight it has; 0: none, infinite: nothing else has */
	double own_df;
	double df;       /* of the moderated ones */
};

/*
 * alone: as how many values that have nothing to do with each other they count, at most n. Values that come and go
 * together look alike, and know no more than one of them. With fewer than three values, or most of them 0, nothing is
 * moved. False without memory.
 */
bool moderate_fit(struct moderate *m, const struct moderate_value *list, size_t n, double df, double alone);
double moderate_one(const struct moderate *m, double design, double size);

#endif
