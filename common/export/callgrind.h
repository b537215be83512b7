/*
 * Stacks in the callgrind format, for callgrind_annotate and KCachegrind.
 *
 *	struct callgrind_writer *w = callgrind_new(&traces, &options);
 *	struct slice bytes;
 *
 *	while (callgrind_next(w, &bytes))
 *		...write them...
 *	if (callgrind_failed(w)) ...out of memory...
 *	callgrind_free(w);
 *
 * A function's cost by source line is its own; a call's cost is the weight of the callee with all that it
 * called. The readers compute a function's inclusive cost from the calls to it. To keep that right under
 * recursion, a stack counts only for the call to a function's outermost frame in the stack. Each command is a
 * function in the file "[command]" that calls the outermost frames. The number of calls is unknown; the
 * weight is written in its place. If there are waits, CPU time and each kind of wait are separate events.
 */
#ifndef CPROF_EXPORT_CALLGRIND_H
#define CPROF_EXPORT_CALLGRIND_H

#include "common/export/traces.h"

struct callgrind_options {
	bool weight; /* cost is the weight, not the number of samples */
	const char *creator;
};

struct callgrind_writer;

/* Traces must be settled, and outlive the writer. Returns NULL if out of memory. */
struct callgrind_writer *callgrind_new(const struct traces *s, const struct callgrind_options *options);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool callgrind_next(struct callgrind_writer *w, struct slice *bytes);
bool callgrind_failed(const struct callgrind_writer *w);
void callgrind_free(struct callgrind_writer *w);

#endif
