/*
 * Unwind tables of the files that are met: opened as the process saw them, made by the worker, kept in
 * the store, put out when there is no room.
 *
 * A file has a table when the first stack is met that needs one: what is mapped and never sampled costs
 * nothing.
 */
#ifndef CPROF_RECORD_TABLES_H
#define CPROF_RECORD_TABLES_H

#include "cmd/cprof-record/procs.h"
#include "cmd/cprof-record/waiting.h"
#include "cmd/cprof-record/worker.h"
#include "common/unwind/store.h"

enum { TABLES_WORKERS = 2, TABLES_SLOW = 4 };

struct table {
	uint32_t exe;     /* index in procs' exes */
	bool used;        /* this number is one */
	uint64_t asked;   /* the opener was, then, and behind it the worker; 0: they were not */
	uint32_t question; /* and by this number, which is no other's: file numbers are used again */
	uint64_t touched; /* a stack went through it last */
	uint64_t retry;   /* refused until then */
	uid_t owner;      /* of the file, once it was opened */
};

struct tables {
	struct store *store; /* lent */
	struct table_worker {
		struct worker *w;
		int64_t owner; /* of the file that it has; -1: none */
	} workers[TABLES_WORKERS];
	int poll; /* what can be read when one has something to say */
	struct waiting waiting;
	struct slow_user {
		uid_t uid;
		uint64_t until, lasts; /* so long his files' tables are not waited for */
	} slow[TABLES_SLOW];
	struct procs *procs;
	struct table *items; /* by file number */
	size_t n, cap;
	struct table_copy {
		uint32_t question;
		uint64_t bytes;
	} *copies; /* of files that are not local */
	size_t n_copies, cap_copies;
	/* Totals. */
	uint64_t built, refused, evicted, failed;
	uint32_t questions;
	uint64_t cpu_ns; /* of the worker's processes */
	struct buf complaint; /* a sentence that has not been said, or empty */
	uint64_t losses; /* of tables_losses, said */
	bool said_refused;
};

#define TABLES_PATIENCE 2000000000ull /* ns: so long stacks wait for a table */

/* The workers are started here: before there is anything that they should not have. False: errno. */
bool tables_init(struct tables *t, struct procs *procs);
void tables_release(struct tables *t);
/* Can be read when tables_step has something to do. */
int tables_fd(const struct tables *t);
/* How often a process that has tables made was lost. */
uint64_t tables_losses(const struct tables *t);

/* The number of an executable's table, made known to the store; 0: there is no number left. */
uint32_t tables_number(struct tables *t, uint32_t exe);
/* procs forgets the executable that has this number. */
void tables_forget(struct tables *t, uint32_t number, uint64_t now);

/*
 * A stack of this process needs the table of the file that is mapped here: asks for it. True: it is worth
 * waiting for the answer. Else what the store says of the file is final for this stack.
 */
bool tables_want(struct tables *t, const struct proc *p, const struct map *m, uint64_t now);
/* The opener's answer to one of our questions; its descriptor is taken over. */
void tables_opened(struct tables *t, const struct opener_answer *a, uint64_t now);
/* A stack went through it. */
static inline void tables_touch(struct tables *t, uint32_t number, uint64_t now)
{
	if (number < t->n)
		t->items[number].touched = now;
}

/* Takes in what the worker has done meanwhile; what was refused may be asked for again. */
void tables_step(struct tables *t, uint64_t now);

#endif
