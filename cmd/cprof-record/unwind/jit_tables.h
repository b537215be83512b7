/*
 * Unwind tables of code that JIT compilers generate, from the .eh_frame that some write to jitdump files.
 *
 *	struct jit_tables *j = jit_tables_new(walk, epoll);
 *
 *	jit_tables_add(j, p, uid, code, eh_frame);	// each load and each move of a process
 *	jit_tables_step(j, now);			// each drain, and when epoll is readable
 *	jit_tables_gone(j, p);				// procs forgets the process
 *	jit_tables_free(j);
 *
 * A process has one table, by absolute address. A worker builds it, like those of files, and builds it
 * again when there is new code. The new table has a new number, so cached rows of the old one do not match.
 * The rules are UNWIND_FROM_CODE: a return address is accepted only if a call ends there.
 *
 * Any process can write any of this, so the memory for it is limited by process, by user and in all. The next
 * build is that of the user with the least CPU time, and a build that took long is not soon repeated.
 */
#ifndef CPROF_RECORD_UNWIND_JIT_TABLES_H
#define CPROF_RECORD_UNWIND_JIT_TABLES_H

#include "cmd/cprof-record/unwind/user_walk.h"
#include "common/jit/jitfile.h"

enum {
	JIT_TABLES_OF_ONE = 1 << 20,	     /* bytes kept for a process, the newest ones */
	JIT_TABLES_OF_USER = 2 << 20,	     /* for all processes of a user; code beyond that is ignored */
	JIT_TABLES_MOST = 8 << 20,	     /* in all */
	JIT_TABLES_PAGES = UNWIND_PAGES / 4, /* pages of all tables */
};

/* Both arguments are lent. Returns NULL if out of memory. */
struct jit_tables *jit_tables_new(struct user_walk *walk, int epoll);
void jit_tables_free(struct jit_tables *j);

/* Takes a load or a move in a process of this user. eh_frame is empty if the code has none. */
void jit_tables_add(struct jit_tables *j, struct proc *p, uid_t uid, const struct jitfile_code *code,
		    struct slice eh_frame);
/* Takes tables that were built, and lets others be built. Time is CLOCK_MONOTONIC, ns. */
void jit_tables_step(struct jit_tables *j, uint64_t now);
void jit_tables_gone(struct jit_tables *j, struct proc *p);

/* Returns the bytes that are kept for all processes. */
uint64_t jit_tables_kept(const struct jit_tables *j);

#endif
