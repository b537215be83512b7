/*
 * The design effect of a share: its variance divided by that of independent samples, from the best available
 * measure.
 *
 *	struct designs d;
 *
 *	if (!designs_measure(&d, &profile, &setup, NULL, 0) || !designs_fit(&d, &profile, rows, n)) ...out of memory...
 *	designs_set(&d, spread_name(label, SPREAD_CUM), flat / cum, &counts);	// counts.design and counts.df
 *	designs_release(&d);
 *
 * There are two measures: runs and blocks of time. The choice depends on how precisely the better one, runs,
 * is known.
 *
 * The difference between equal runs contains every source of chance: bursts, phases, and differences between
 * starts. With at least DESIGNS_RUNS degrees of freedom (three runs against three), only runs are used. The
 * variance within a run is then irrelevant: a program that first does one thing and then another, in the same
 * way in each run, has shares that vary widely between blocks and not at all between runs. A few runs give a
 * poor estimate of one function's variance but a good one of many functions' variance. So each one is moved
 * towards the common one, as far as functions are alike: G. K. Smyth's moderated variances (Stat. Appl.
 * Genet. Mol. Biol. 3, 2004), applied to design effects as D. J. Lund et al. do for counts (ibid. 11, 2012);
 * see shrinkage.h.
 *
 * With one run a side, only blocks of time are available. With about two, blocks are still known far better
 * than the differences between runs. Then the blocks' design effect is used unless runs differ by more: by a
 * common factor over all functions first, then for each function. Both steps take a mean of blocks and runs,
 * weighted by the degrees of freedom, where blocks count as DESIGNS_RUNS. The result is never less than the
 * blocks'.
 */
#ifndef CPROF_STATS_DESIGN_EFFECT_H
#define CPROF_STATS_DESIGN_EFFECT_H

#include "common/stats/compare.h"
#include "common/stats/shrinkage.h"
#include "common/stats/variance.h"

enum { DESIGNS_RUNS = 4 };

enum { CHANGES_SLICE_MS = 50 }; /* length of the slices of moments, which blocks are made of */

struct changes_setup {
	double unit[PROFILE_SIDES];     /* weight of a sample; not finite: unknown, no tests */
	bool timed[PROFILE_SIDES];      /* this side's moments have times */
	uint32_t runs[PROFILE_SIDES];   /* number of runs; if more than 1, moments have their run */
};

enum designs_basis {
	DESIGNS_NONE,   /* samples count as independent */
	DESIGNS_BLOCKS, /* one run a side */
	DESIGNS_MIXED,  /* blocks, and a few runs */
	DESIGNS_BETWEEN /* runs */
};

/* The estimates over all functions; they outlive the measures. */
struct designs_model {
	enum designs_basis basis;
	struct moderate moderate[SPREAD_KINDS]; /* for runs */
	double factor; /* mixed: variance between runs relative to that predicted by blocks; at least 1 */
	double df;
};

struct designs {
	struct spread blocks, runs; /* their sums are NULL if not measured */
	struct designs_model model;
};

/* A row of a table, with its samples. */
struct designs_row {
	const struct compare *counts[SPREAD_KINDS];
	uint32_t label;
};

/*
 * Measures names; or nodes, if numbers is not NULL: their numbers are below n, see variance.h. Returns false if
 * out of memory; release the object in any case.
 */
bool designs_measure(struct designs *d, const struct profile *p, const struct changes_setup *setup,
		     const uint32_t *numbers, size_t n);
/* Fits the model to the rows. Returns false if out of memory. */
bool designs_fit(struct designs *d, const struct profile *p, const struct designs_row *rows, size_t n);
/*
 * Sets counts->design and counts->df. own: the part of the samples that are the function's own. Flat and cum
 * have separate trends; own interpolates between them, so that a function whose callees weigh little does not
 * jump.
 */
void designs_set(const struct designs *d, uint32_t unit, double own, struct compare *counts);
bool designs_enough(const struct compare *counts); /* enough samples to contribute to the model */
double designs_size(const struct compare *counts); /* grows with the variance of a share */
void designs_release(struct designs *d);

#endif
