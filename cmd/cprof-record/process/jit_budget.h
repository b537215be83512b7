/*
 * Limits the bytes of JIT compilers' perf maps and jitdump files that go into captures. Any user can write a
 * perf map as fast as the disk allows, and kept recordings would be removed to make room for it.
 *
 *	n = jit_budget_left(&b, uid, now);	// bytes that may be taken now
 *	...
 *	jit_budget_take(&b, uid, bytes);
 *
 * Each user has a budget that grows with time up to a maximum, and all users together have another one. The
 * rest of the latter is divided equally among the users of the last second, so that users who write as much
 * as they may leave a share to the others. Root is not limited: it needs no perf map to do harm.
 */
#ifndef CPROF_RECORD_PROCESS_JIT_BUDGET_H
#define CPROF_RECORD_PROCESS_JIT_BUDGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	JIT_BUDGET_RATE = 2 << 20,  /* bytes a second for one user */
	JIT_BUDGET_MOST = 64 << 20, /* bytes at once */
	JIT_BUDGET_USERS = 4,       /* the budget of all users together, in budgets of one */
};

struct jit_budget {
	struct jit_budget_user {
		uid_t uid;
		uint64_t left, since;
		uint64_t took; /* when it last took some; 0: never */
	} all, *users;
	size_t n, cap;
	uint64_t now; /* the time given to jit_budget_left */
};

/* now: CLOCK_MONOTONIC, ns. Returns 0 if out of memory, UINT64_MAX for root. */
uint64_t jit_budget_left(struct jit_budget *b, uid_t uid, uint64_t now);
void jit_budget_take(struct jit_budget *b, uid_t uid, uint64_t bytes);
void jit_budget_release(struct jit_budget *b);

#endif
