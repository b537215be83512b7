/*
 * Unwind tables of the files in stacks. The files are opened as the process saw them. Workers make the
 * tables, the store keeps them, and they are evicted when there is no room.
 *
 * A file gets a table when the first stack needs one: a file that is mapped but never sampled costs nothing.
 * Times are CLOCK_MONOTONIC, ns.
 */
#ifndef CPROF_RECORD_UNWIND_TABLE_CACHE_H
#define CPROF_RECORD_UNWIND_TABLE_CACHE_H

#include "cmd/cprof-record/process/procs.h"
#include "cmd/cprof-record/unwind/table_queue.h"
#include "cmd/cprof-record/unwind/table_worker.h"
#include "common/walk/store.h"

enum { TABLES_WORKERS = 2, TABLES_SLOW = 4 };

struct table {
	uint32_t exe;     /* index in procs' exes */
	bool used;        /* this file number is in use */
	uint64_t asked;   /* when the opener was asked, and the worker after it; 0: not asked */
	uint32_t question; /* unique number of that question: file numbers are used again */
	uint64_t touched; /* when a stack last went through it */
	uint64_t retry;   /* refused until then */
	uid_t owner;      /* owner of the file, once it was opened */
};

struct tables {
	struct store *store; /* lent */
	struct table_worker {
		struct worker *w;
		int64_t owner; /* owner of the file that it has; -1: none */
	} workers[TABLES_WORKERS];
	int poll; /* epoll descriptor: readable when a worker has an answer */
	struct waiting waiting;
	struct slow_user {
		uid_t uid;
		uint64_t until, lasts; /* stacks do not wait for the user until then; for how long */
	} slow[TABLES_SLOW];
	struct procs *procs;
	struct table *items; /* by file number */
	size_t n, cap;
	struct table_copy {
		uint32_t question;
		uint64_t bytes;
	} *copies; /* copies of files that are not local */
	size_t n_copies, cap_copies;
	/* Totals. */
	uint64_t built, refused, evicted, failed;
	uint32_t questions;
	uint64_t cpu_ns; /* CPU time of the workers */
	struct buf complaint; /* a sentence that is not printed yet, or empty */
	uint64_t losses; /* tables_losses that were reported */
	bool said_refused;
};

#define TABLES_PATIENCE 2000000000ull /* ns that a stack waits for a table */

/* Starts the workers: call it before there is anything that they should not inherit. False with errno. */
bool tables_init(struct tables *t, struct procs *procs);
void tables_release(struct tables *t);
/* Returns a descriptor that is readable when tables_step has something to do. */
int tables_fd(const struct tables *t);
/* Returns how often a fork server was lost. */
uint64_t tables_losses(const struct tables *t);

/* Returns the number of an executable's table in the store, a new one if need be; 0: there is none left. */
uint32_t tables_number(struct tables *t, uint32_t exe);
/* procs forgets the executable with this number. */
void tables_forget(struct tables *t, uint32_t number, uint64_t now);

/*
 * Asks for the table of the file mapped at m, which a stack of this process needs. True: the answer is worth
 * waiting for. False: the store's state of the file is final for this stack.
 */
bool tables_want(struct tables *t, const struct proc *p, const struct map *m, uint64_t now);
/* Takes the opener's answer to a question of the tables, and takes over its descriptor. */
void tables_opened(struct tables *t, const struct opener_answer *a, uint64_t now);
/* Notes that a stack went through the table. */
static inline void tables_touch(struct tables *t, uint32_t number, uint64_t now)
{
	if (number < t->n)
		t->items[number].touched = now;
}

/* Takes the workers' answers, and lets refused tables be asked for again when it is time. */
void tables_step(struct tables *t, uint64_t now);

#endif
