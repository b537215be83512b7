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
 *
 * Files that are not on local disk are read from copies in memory, which are limited in the same way, also
 * those of root's files. A copy that was read gives its memory back:
 *
 *	struct jit_copy copy = { .is = true, .from = answer->from };
 *
 *	if (jit_budget_hold(&b, uid, fd, answer->size, &copy))
 *		...fd has bytes from copy.from on...
 *	jit_budget_let_go(&b, fd, &copy);	// none of them is needed any more
 */
#ifndef CPROF_RECORD_PROCESS_JIT_BUDGET_H
#define CPROF_RECORD_PROCESS_JIT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	JIT_BUDGET_RATE = 2 << 20,  /* bytes a second for one user */
	JIT_BUDGET_MOST = 64 << 20, /* bytes at once */
	JIT_BUDGET_USERS = 4,       /* the budget of all users together, in budgets of one */
	JIT_BUDGET_COPIES_OF_ONE = 16 << 20, /* bytes of memory in copies of one user's files */
	JIT_BUDGET_COPIES = 32 << 20,        /* likewise, of all users' */
	JIT_BUDGET_COPY_LEAST = 64 << 10,    /* there is no copy without room for this much */
};

/* The complaint about a file without one. */
#define JIT_BUDGET_NO_COPY                                                   \
	"there is no memory for a copy of it beside those of other files: " \
	"it is read later, or left out"

struct jit_copy {
	bool is;       /* the descriptor is of a copy, ... */
	uint64_t from; /* ... which has the bytes from here on; UINT64_MAX: none any more */
	uint64_t held; /* its bytes of memory, which count as this user's */
	uid_t uid;
	uint64_t whole; /* size of the file, if the copy lacks its end; otherwise 0 */
};

struct jit_budget {
	struct jit_budget_user {
		uid_t uid;
		uint64_t left, since;
		uint64_t took; /* when it last took some; 0: never */
		uint64_t copied; /* bytes of memory in copies */
	} all, *users;
	size_t n, cap;
	uint64_t now; /* the time given to jit_budget_left */
};

/* now: CLOCK_MONOTONIC, ns. Returns 0 if out of memory, UINT64_MAX for root. */
uint64_t jit_budget_left(struct jit_budget *b, uid_t uid, uint64_t now);
void jit_budget_take(struct jit_budget *b, uid_t uid, uint64_t bytes);

/*
 * Accounts for the copy of a file of this size, and cuts it if there is less room. Returns false if there is
 * too little, or no memory.
 */
bool jit_budget_hold(struct jit_budget *b, uid_t uid, int fd, uint64_t size, struct jit_copy *c);
/* Frees its memory; the descriptor stays open. Has no effect on a file that is not such a copy. */
void jit_budget_let_go(struct jit_budget *b, int fd, struct jit_copy *c);
void jit_budget_release(struct jit_budget *b);

#endif
