/*
 * Tests which rows of a table changed between the two sides, and which differences are noise.
 *
 *	struct changes_setup setup = { .unit = { 1, 1 }, .timed = { true, true } };
 *	struct changes c;
 *
 *	if (!changes_init(&c, &table, &profile, &setup)) ...out of memory...
 *	for (i = 0; i < table.n; i++) {
 *		const struct change *flat = &c.by_label[table.rows[i].label].flat;
 *
 *		if (flat->q < COMPARE_RATE)
 *			...it is a change of flat->counts' shares, somewhere in flat->interval...
 *	}
 *	changes_release(&c);
 *
 * Each row has two tests, of its flat and its cum weight, or one if both are the same. The false discovery
 * rate is controlled over all tests together. Samples come in bursts; their variance is measured between runs
 * if a side has several, and otherwise between blocks of time, see design_effect.h. It is never taken for less than
 * that of independent samples.
 */
#ifndef CPROF_STATS_CHANGES_H
#define CPROF_STATS_CHANGES_H

#include "common/views/table_view.h"
#include "common/stats/compare.h"
#include "common/stats/design_effect.h"

struct change {
	struct compare counts;    /* in samples */
	struct interval interval; /* 95 %, of the share after minus the share before, for this change alone */
	/* Adjusted over all tests, as q: it contains 0 if and only if q is at least COMPARE_RATE. */
	struct interval adjusted;
	double p, q;              /* q: adjusted over all tests; 1: could not be tested */
};

struct changes {
	struct changes_row {
		struct change flat, cum;
	} *by_label; /* set for labels that are rows */
	size_t tests;
	size_t changed; /* rows with a q below COMPARE_RATE */
	double design;         /* median design effect of the tests with enough samples */
	struct design_effect_model model;
	double critical;       /* standard deviations that one more change would need */
	uint32_t blocks[PROFILE_SIDES], slices[PROFILE_SIDES]; /* blocks of time; slices in each; or 0 */
	uint32_t runs[PROFILE_SIDES];                          /* runs that variance was taken from, or 0 */
	bool long_bursts; /* bursts are longer than blocks, so the variance is underestimated */
};

/*
 * Tests all rows. The object keeps no reference to its arguments. Returns false if out of memory; release it
 * in any case.
 */
bool changes_init(struct changes *c, const struct table *t, const struct profile *p,
		  const struct changes_setup *setup);
void changes_release(struct changes *c);

/* Converts a weight on both sides to samples; the design effect is not set. */
struct compare changes_counts(const uint64_t *weight, const struct profile *p, const struct changes_setup *setup);
/*
 * Sets the design effect of nodes' counts from the samples of each node's subtree, not from those of its
 * name. numbers: by node of the profile, its index in counts, or VARIANCE_NONE. Returns false if out of memory.
 */
bool changes_nodes(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
		   const uint32_t *numbers, struct compare *counts, size_t n);

/* Returns whether the row's flat or cum weight changed significantly. */
bool changes_significant(const struct changes_row *row);
/* Returns the smallest growth of this share that is found in 4 of 5 cases; INFINITY if there is none. */
double changes_detectable(const struct changes *c, const struct change *of);
/* The same for any function that has the median design effect and this share, from 0 to 1. */
double changes_detectable_at(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
			     double share);

#endif
