/*
 * The callers and callees of a function, with the weight of the stacks that contain the call.
 *
 *	struct peek k;
 *	size_t n;
 *
 *	if (!peek_init(&k, &profile, chosen)) ...out of memory...
 *	calls = peek_callers(&k, label, &n);	// calls[0 .. n - 1].caller, .weight
 *	calls = peek_callees(&k, label, &n);	// calls[0 .. n - 1].callee, .weight
 *	peek_release(&k);
 *
 * A stack in which one function calls another more than once adds to that call once; a function that calls
 * itself is not a call. Without recursion through several functions, the callers add up to the function's
 * cum, and so do the callees plus its flat; with such recursion they may add up to more.
 */
#ifndef CPROF_VIEWS_PEEK_H
#define CPROF_VIEWS_PEEK_H

#include "common/profile/profile.h"

struct peek_call {
	uint32_t caller, callee; /* labels */
	bool command;            /* the caller is the outermost frame of the stack, the command */
	uint64_t weight;         /* of side 0 */
};

struct peek {
	struct peek_call *by_callee, *by_caller; /* the heaviest first, then by name */
	size_t n, cap;
};

/* chosen: by label, the functions to be asked about. Returns false if out of memory; release it even then. */
bool peek_init(struct peek *k, const struct profile *p, const bool *chosen);
void peek_release(struct peek *k);
/* Return *n calls, valid until peek_release; NULL if *n is 0. */
const struct peek_call *peek_callers(const struct peek *k, uint32_t label, size_t *n);
const struct peek_call *peek_callees(const struct peek *k, uint32_t label, size_t *n);

#endif
