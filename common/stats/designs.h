/*
 * How many times more a share varies than that of as many independent samples would: its design effect, from what
 * there is to know it by.
 *
 *	struct designs d;
 *
 *	if (!designs_measure(&d, &profile, &setup, NULL, 0) || !designs_fit(&d, &profile, rows, n)) ...out of memory...
 *	designs_set(&d, spread_name(label, SPREAD_CUM), flat / cum, &counts);	// counts.design and counts.df
 *	designs_release(&d);
 *
 * There are two measures, and which of them counts depends on how well the better one is known.
 *
 * What differs between runs of the same is all there is to chance: bursts, phases, and what differs from start to
 * start. With DESIGNS_RUNS degrees of freedom or more (three runs against three) it stands alone. What varies within
 * a run is nothing beside it then: a program that does first one thing and then another, in each run alike, has shares
 * that vary wildly from block to block and not at all from run to run. The variance of one function is known badly by
 * a few runs, but that of many functions well, so each one's is moved towards that of all, as far as they are alike:
 * G. K. Smyth's moderated variances (Stat. Appl. Genet. Mol. Biol. 3, 2004), of design effects as D. J. Lund et al. do
 * it for counts (ibid. 11, 2012); see moderate.h.
 *
 * With one run a side there are blocks of time, and with two or so the blocks are still known far better than what
 * differs between runs. So it is the blocks', as it were without the other runs, unless these differ by more: in
 * common, over all functions, and then for each. Either is a mean of the two, with the weight of their degrees of
 * freedom, those of the blocks as if they were DESIGNS_RUNS; where it is less than the blocks' it is left.
 */
#ifndef CPROF_STATS_DESIGNS_H
#define CPROF_STATS_DESIGNS_H

#include "common/stats/compare.h"
#include "common/stats/moderate.h"
#include "common/stats/spread.h"

enum { DESIGNS_RUNS = 4 };

enum { CHANGES_SLICE_MS = 50 }; /* as long are the slices that moments tell of and blocks are made of */

struct changes_setup {
	double unit[PROFILE_SIDES];     /* what a sample weighs; not finite: nobody knows, so nothing can be tested */
	bool timed[PROFILE_SIDES];      /* moments of this side say when its weight came */
	uint32_t runs[PROFILE_SIDES];   /* more than 1: moments say in which of them it came */
};

enum designs_basis {
	DESIGNS_NONE,   /* samples are taken for independent */
	DESIGNS_BLOCKS, /* one run a side */
	DESIGNS_MIXED,  /* blocks, and a few runs */
	DESIGNS_BETWEEN /* runs */
};

/* What was learnt from all functions; it outlives the measures. */
struct designs_model {
	enum designs_basis basis;
	struct moderate moderate[SPREAD_KINDS]; /* of runs */
	double factor; /* mixed: how many times more runs differ than blocks would have them do; 1 or more */
	double df;
};

struct designs {
	struct spread blocks, runs; /* their sums are NULL where there are none */
	struct designs_model model;
};

/* A row of a table, with its samples. */
struct designs_row {
	const struct compare *counts[SPREAD_KINDS];
	uint32_t label;
};

/* Of names; or of nodes that have numbers below n, see spread.h. False without memory; can be released all the same. */
bool designs_measure(struct designs *d, const struct profile *p, const struct changes_setup *setup,
		     const uint32_t *numbers, size_t n);
bool designs_fit(struct designs *d, const struct profile *p, const struct designs_row *rows, size_t n);
/*
 * own: which part of the samples is the function's own. Flat and cum have their own trends, and who calls next to
 * nothing is between them where it belongs, not on the other side of a border.
 */
void designs_set(const struct designs *d, uint32_t unit, double own, struct compare *counts);
bool designs_enough(const struct compare *counts); /* samples to say anything about others */
double designs_size(const struct compare *counts); /* what grows with the variance of a share */
void designs_release(struct designs *d);

#endif
