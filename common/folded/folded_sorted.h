/*
 * Folded text that is already sorted, as a source of a merge: only one line is in memory.
 *
 *	struct sorted s;
 *
 *	if (!sorted_init(&s, fd, taken, PROFILE_STACK_MAX, &claimed)) ...out of memory...
 *	merge_add(&m, &s.source);
 *	while ((got = merge_next(&m, &stack, &count)) > 0)
 *		...
 *	if (got < 0 && s.unsorted)	// line s.scan.lines sorts before its predecessor
 *	if (s.scan.bad)			// number of bad lines; see folded_scan.h
 *	sorted_release(&s);
 *
 * The order is that of the bytes of the stacks, a prefix before its extensions, as the writer of folded.h has
 * it; equal stacks may follow one another. Names are cleaned first, and the cleaned text must be in order. A
 * stack that would have to lose frames is a bad line, because it might change its place.
 */
#ifndef CPROF_FOLDED_FOLDED_SORTED_H
#define CPROF_FOLDED_FOLDED_SORTED_H

#include "common/folded/merge.h"
#include "common/folded/folded_scan.h"

struct sorted {
	struct merge_source source;
	struct folded_scan scan;
	size_t stack_max;
	uint64_t *claimed; /* sum of the counts of all sources, which must fit into 64 bits */
	const char **roots; /* if n_roots: only stacks with one of these root frames */
	size_t n_roots;
	bool unsorted;
	int error; /* errno, if this source failed */
	struct buf stack, fit; /* the stack returned last; room for the next one */
};

/* taken: bytes that were already read from fd. Returns false if out of memory. */
bool sorted_init(struct sorted *s, int fd, struct slice taken, size_t stack_max, uint64_t *claimed);
void sorted_release(struct sorted *s);

#endif
