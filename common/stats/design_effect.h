/*
 * The design effect of a share: its variance divided by that of independent samples, from the best available
 * measure.
 *
 *	struct design_effect d;
 *
 *	if (!design_effect_measure(&d, &profile, &setup, NULL, 0) || !design_effect_fit(&d, &profile, rows, n)) ...out of memory...
 *	design_effect_set(&d, variance_name(label, VARIANCE_CUM), flat / cum, &counts);	// counts.design and counts.df
 *	design_effect_release(&d);
 *
 * There are two measures: runs and blocks of time. The choice depends on how precisely the better one, runs,
 * is known.
 *
 * The difference between equal runs contains every source of chance: bursts, phases, and differences between
 * starts. With at least DESIGN_EFFECT_RUNS degrees of freedom (three runs against three), only runs are used. The
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
 * weighted by the degrees of freedom, where blocks count as DESIGN_EFFECT_RUNS. The result is never less than the
 * blocks'.
 */
#ifndef CPROF_STATS_DESIGN_EFFECT_H
#define CPROF_STATS_DESIGN_EFFECT_H

#include "common/stats/compare.h"
#include "common/stats/shrinkage.h"
#include "common/stats/variance.h"

enum { DESIGN_EFFECT_RUNS = 4 };

enum { CHANGES_SLICE_MS = 50 }; /* length of the slices of moments, which blocks are made of */

struct changes_setup {
	double unit[PROFILE_SIDES];     /* weight of a sample; not finite: unknown, no tests */
	bool timed[PROFILE_SIDES];      /* this side's moments have times */
	uint32_t runs[PROFILE_SIDES];   /* number of runs; if more than 1, moments have their run */
};

enum design_effect_basis {
	DESIGN_EFFECT_NONE,   /* samples count as independent */
	DESIGN_EFFECT_BLOCKS, /* one run a side */
	DESIGN_EFFECT_MIXED,  /* blocks, and a few runs */
	DESIGN_EFFECT_BETWEEN /* runs */
};

/* The estimates over all functions; they outlive the measures. */
struct design_effect_model {
	enum design_effect_basis basis;
	struct shrinkage moderate[VARIANCE_KINDS]; /* for runs */
	double factor; /* mixed: variance between runs relative to that predicted by blocks; at least 1 */
	double df;
};

struct design_effect {
	struct variance blocks, runs; /* their sums are NULL if not measured */
	struct design_effect_model model;
};

/* A row of a table, with its samples. */
struct design_effect_row {
	const struct compare *counts[VARIANCE_KINDS];
	uint32_t label;
};

/*
 * Measures names; or nodes, if numbers is not NULL: their numbers are below n, see variance.h. Returns false if
 * out of memory; release the object in any case.
 */
bool design_effect_measure(struct design_effect *d, const struct profile *p, const struct changes_setup *setup,
		     const uint32_t *numbers, size_t n);
/* Fits the model to the rows. Returns false if out of memory. */
bool design_effect_fit(struct design_effect *d, const struct profile *p, const struct design_effect_row *rows, size_t n);
/*
 * Sets counts->design and counts->df. own: the part of the samples that are the function's own. Flat and cum
 * have separate trends; own interpolates between them, so that a function whose callees weigh little does not
 * jump.
 */
void design_effect_set(const struct design_effect *d, uint32_t unit, double own, struct compare *counts);
bool design_effect_enough(const struct compare *counts); /* enough samples to contribute to the model */
double design_effect_size(const struct compare *counts); /* grows with the variance of a share */
void design_effect_release(struct design_effect *d);

#endif
