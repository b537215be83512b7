/*
 * Merges sorted sources of stacks into one sequence, in which each stack comes once, with the sum of its
 * counts.
 *
 *	struct merge m = { 0 };
 *
 *	merge_add(&m, &run->source);	// each of them; false if out of memory
 *	while ((got = merge_next(&m, &stack, &count)) > 0)
 *		...
 *	merge_release(&m);		// the sources stay the caller's
 *
 * A source gives stacks in the order of their bytes (slice_compare), equal ones as often as it likes. The
 * result does not depend on which source has which count, nor on the order in which sources were added. Sums
 * do not overflow, because the code that fills the sources has checked that.
 */
#ifndef CPROF_FOLDED_MERGE_H
#define CPROF_FOLDED_MERGE_H

#include "common/base/buf.h"

struct merge_source {
	/* Advances to the next stack: 1, 0 at the end, -1 on failure, which the source itself describes. */
	int (*next)(struct merge_source *s);
	struct slice stack; /* valid until the next call */
	uint64_t count;
};

struct merge {
	struct merge_source **heap; /* the first one has the smallest stack */
	size_t n, cap;
	bool begun;
	struct buf stack;
};

bool merge_add(struct merge *m, struct merge_source *s);
/*
 * Returns 1: a stack, valid until the next call; 0: the end; -1: a source failed, or out of memory (errno).
 */
int merge_next(struct merge *m, struct slice *stack, uint64_t *count);
void merge_release(struct merge *m);

#endif
