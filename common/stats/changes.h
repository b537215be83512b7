/*
 * Which rows of a table changed between the two sides, and which differences are chance.
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
 * Every row has two tests, of its flat and of its cum weight, or one where they are the same; the false discoveries
 * are controlled over all of them together. How much samples that come in bursts vary is measured between runs where
 * the sides have several, and else between blocks of time, see designs.h; never less than independent samples would.
 */
#ifndef CPROF_STATS_CHANGES_H
#define CPROF_STATS_CHANGES_H

#include "common/profile/table.h"
#include "common/stats/compare.h"
#include "common/stats/designs.h"

struct change {
	struct compare counts;    /* in samples */
	struct interval interval; /* 95 %, of the share after less the share before */
	double p, q;              /* q: over all tests; 1 where it could not be tested */
};

struct changes {
	struct changes_row {
		struct change flat, cum;
	} *by_label; /* of labels that are rows */
	size_t tests;
	size_t changed; /* rows with a q below COMPARE_RATE */
	double design;         /* the median of those tests that have enough samples */
	struct designs_model model;
	double critical;       /* what one more change would need to pass */
	uint32_t blocks[PROFILE_SIDES], slices[PROFILE_SIDES]; /* parts of time on each side, slices in each; or 0 */
	uint32_t runs[PROFILE_SIDES];                          /* that variance was measured between; or 0 */
	bool long_bursts; /* bursts are longer than blocks, and what they vary by is more than was measured */
};

/* False without memory; the object can be released all the same. */
bool changes_init(struct changes *c, const struct table *t, const struct profile *p,
		  const struct changes_setup *setup);
void changes_release(struct changes *c);

/* Counts of a weight on both sides, in samples, without design. */
struct compare changes_counts(const uint64_t *weight, const struct profile *p, const struct changes_setup *setup);
/*
 * Gives the counts of nodes, each with all below it, the design effect of these samples and not that of its name's.
 * numbers: for each node of the profile where its counts are, or SPREAD_NONE. False without memory.
 */
bool changes_nodes(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
		   const uint32_t *numbers, struct compare *counts, size_t n);

bool changes_significant(const struct changes_row *row);
/* The smallest growth of a share from this one on that is found in 4 of 5 cases; infinite where none would be. */
double changes_detectable(const struct changes *c, const struct change *of);
/* The same for any function with the usual design effect and this share. */
double changes_detectable_at(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
			     double share);

#endif
