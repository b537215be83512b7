/*
 * Who calls a function, and what it calls, with the weight of the stacks that hold the call.
 *
 *	struct peek k;
 *	size_t n;
 *
 *	if (!peek_init(&k, &profile, chosen)) ...out of memory...
 *	calls = peek_callers(&k, label, &n);	// calls[0 .. n - 1].caller, .weight
 *	calls = peek_callees(&k, label, &n);	// calls[0 .. n - 1].callee, .weight
 *	peek_release(&k);
 *
 * A stack in which one function calls another more than once adds to that call once, and a function that calls
 * itself is no call. So where nothing recurs in a circle of several functions the callers add up to the
 * function's cum, and the callees and its flat do; where something does, they may add up to more.
 */
#ifndef CPROF_PROFILE_PEEK_H
#define CPROF_PROFILE_PEEK_H

#include "common/profile/profile.h"

struct peek_call {
	uint32_t caller, callee; /* labels */
	bool command;            /* the caller is the outermost frame of the stack, which is the command that ran */
	uint64_t weight;         /* of side 0 */
};

struct peek {
	struct peek_call *by_callee, *by_caller; /* the heaviest first, then by name */
	size_t n, cap;
};

/* chosen: by label, for which functions it will be asked. False without memory; can be released all the same. */
bool peek_init(struct peek *k, const struct profile *p, const bool *chosen);
void peek_release(struct peek *k);
const struct peek_call *peek_callers(const struct peek *k, uint32_t label, size_t *n);
const struct peek_call *peek_callees(const struct peek *k, uint32_t label, size_t *n);

#endif
