/*
 * Folded text that is sorted already, as a source of a merge: in memory is one line.
 *
 *	struct sorted s;
 *
 *	if (!sorted_init(&s, fd, taken, PROFILE_STACK_MAX, &claimed)) ...out of memory...
 *	merge_add(&m, &s.source);
 *	while ((got = merge_next(&m, &stack, &count)) > 0)
 *		...
 *	if (got < 0 && s.unsorted)	// line s.scan.lines belongs before the one before it
 *	if (s.scan.bad)			// lines made no sense; see scan.h
 *	sorted_release(&s);
 *
 * The order is that of the bytes of the stacks, what ends first before what goes on, as the writer of folded.h has
 * it; lines with one stack may follow upon each other. Names are made fit as ever, and the order is that of what
 * comes out. A stack that would have to lose frames, which may move it, makes a bad line.
 */
#ifndef CPROF_PROFILE_SORTED_H
#define CPROF_PROFILE_SORTED_H

#include "common/profile/merge.h"
#include "common/profile/scan.h"

struct sorted {
	struct merge_source source;
	struct scan scan;
	size_t stack_max;
	uint64_t *claimed; /* sum of the counts of all sources, which must fit into 64 bits */
	const char **roots; /* where n_roots: only stacks with one of these root frames */
	size_t n_roots;
	bool unsorted;
	int error; /* errno, where this is the source that failed */
	struct buf stack, fit; /* the stack that was given last; room for the next one */
};

/* taken: bytes that were read from fd already. False without memory. */
bool sorted_init(struct sorted *s, int fd, struct slice taken, size_t stack_max, uint64_t *claimed);
void sorted_release(struct sorted *s);

#endif
