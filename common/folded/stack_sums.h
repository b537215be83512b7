/*
 * Stacks summed by their text, at any size: stacks beyond the budget go to temporary files.
 *
 *	struct stack_sums l;
 *
 *	stack_sums_init(&l, 256 << 20);
 *	if (!stack_sums_add(&l, stack, count)) ...errno...
 *	...
 *	if (!stack_sums_sort(&l)) ...errno...
 *	while ((got = stack_sums_next(&l, &stack, &count)) > 0)	// each stack once, in the order of its bytes
 *		...
 *	if (got < 0) ...errno...
 *	stack_sums_release(&l);
 *
 * A tree (profile.h) looks up each frame; this hashes a stack as a whole and sorts the sums at the end, so
 * text that only needs folding goes through at three times the speed. When memory has no room for one more
 * stack, those in memory are sorted and written to a file without a name in $TMPDIR (/tmp without it), a run.
 * Runs are merged at the end, and earlier when they become many.
 */
#ifndef CPROF_FOLDED_STACK_SUMS_H
#define CPROF_FOLDED_STACK_SUMS_H

#include "common/base/intern.h"
#include "common/base/textsort.h"
#include "common/folded/merge.h"
#include "common/profile/profile.h"

struct stack_sums {
	size_t budget;
	struct intern stacks;
	uint64_t *counts; /* by number of the stack */
	size_t cap_counts;
	uint64_t total; /* sum of all counts added */
	bool no_file;   /* a temporary file in stack_sums_directory() failed */
	/* After stack_sums_sort: the stacks in memory, in order, as a source. */
	struct stack_sums_memory {
		struct merge_source source;
		const struct stack_sums *lines;
		struct text_item *order;
		size_t at;
	} memory;
	struct stack_sums_run **runs; /* older ones first */
	size_t n_runs, cap_runs;
	struct merge merge;
};

/* Returns the directory of temporary files. */
const char *stack_sums_directory(void);

/* budget: bytes of memory; a single stack may take more. 0: no limit. */
void stack_sums_init(struct stack_sums *l, size_t budget);
void stack_sums_release(struct stack_sums *l);

/*
 * Adds to a stack's count. Its text is as folded_writer gives it, and without zero bytes; a count of 0 does
 * nothing. The sum of all counts must stay below 2^64. Returns false with errno if out of memory or if a file
 * cannot be written.
 */
bool stack_sums_add(struct stack_sums *l, struct slice stack, uint64_t count);
/* Returns about how many bytes the stacks in memory take. */
size_t stack_sums_size(const struct stack_sums *l);

/* Ends the adding. Returns false with errno on failure. */
bool stack_sums_sort(struct stack_sums *l);
/* Returns 1: a stack, valid until the next call; 0: the end; -1: see errno. */
int stack_sums_next(struct stack_sums *l, struct slice *stack, uint64_t *count);

#endif
