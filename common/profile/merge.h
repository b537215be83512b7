/*
 * Sorted sources of stacks as one, in which each stack comes once, with the sum of its counts.
 *
 *	struct merge m = { 0 };
 *
 *	merge_add(&m, &run->source);	// each of them; false without memory
 *	while ((got = merge_next(&m, &stack, &count)) > 0)
 *		...
 *	merge_release(&m);		// the sources stay the caller's
 *
 * A source gives stacks in the order of their bytes (slice_compare), equal ones as often as it likes. Which count
 * comes from which source does not matter, so neither does the order in which they were added. Sums do not
 * overflow, for whoever filled the sources has looked after that.
 */
#ifndef CPROF_PROFILE_MERGE_H
#define CPROF_PROFILE_MERGE_H

#include "common/base/buf.h"

struct merge_source {
	/* Goes on to the next stack: 1, 0 at the end, -1 where something failed, of which the source knows what. */
	int (*next)(struct merge_source *s);
	struct slice stack; /* good until it goes on */
	uint64_t count;
};

struct merge {
	struct merge_source **heap; /* the first one has the smallest stack */
	size_t n, cap;
	bool begun;
	struct buf stack;
};

bool merge_add(struct merge *m, struct merge_source *s);
/* 1: a stack, good until the next call; 0: the end; -1: a source failed, or there is no memory (errno). */
int merge_next(struct merge *m, struct slice *stack, uint64_t *count);
void merge_release(struct merge *m);

#endif
