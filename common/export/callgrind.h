/*
 * Stacks in the format of callgrind, for callgrind_annotate and KCachegrind.
 *
 *	struct callgrind_writer *w = callgrind_new(&traces, &options);
 *	struct slice bytes;
 *
 *	while (callgrind_next(w, &bytes))
 *		...write them...
 *	if (callgrind_failed(w)) ...out of memory...
 *	callgrind_free(w);
 *
 * The cost of a function by line of the source is its own; that of a call is what the callee weighs with all it called.
 * The readers make the inclusive cost of a function of the calls to it. So that this is right with recursion too, a
 * stack counts for the call to the outermost one of a function's frames, and for that alone. Each command is a function
 * in the file "[command]" that calls the outermost frames. How often a function was called nobody knows: the weight
 * stands there.
 */
#ifndef CPROF_EXPORT_CALLGRIND_H
#define CPROF_EXPORT_CALLGRIND_H

#include "common/export/traces.h"

struct callgrind_options {
	bool weight; /* not samples */
	const char *creator;
};

struct callgrind_writer;

/* The stacks are settled. NULL without memory. */
struct callgrind_writer *callgrind_new(const struct traces *s, const struct callgrind_options *options);
/* The next piece, good until the next call; false at the end, and without memory. */
bool callgrind_next(struct callgrind_writer *w, struct slice *bytes);
bool callgrind_failed(const struct callgrind_writer *w);
void callgrind_free(struct callgrind_writer *w);

#endif
