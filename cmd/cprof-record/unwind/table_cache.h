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

enum { TABLE_CACHE_WORKERS = 2, TABLE_CACHE_SLOW = 4 };

struct table {
	uint32_t exe;     /* index in procs' exes */
	bool used;        /* this file number is in use */
	bool preferred;   /* it goes before smaller files of its owner */
	uint64_t asked;   /* when the opener was asked, and the worker after it; 0: not asked */
	uint32_t question; /* unique number of that question: file numbers are used again */
	uint64_t touched; /* when a stack last went through it */
	uint64_t retry;   /* refused until then */
	uint64_t rest;    /* its file system did not answer: how long the file rests; 0: it did */
	uint64_t pause;   /* likewise, a worker failed, for which the file is not the reason */
	uid_t owner;      /* owner of the file, once it was opened */
};

struct table_cache {
	struct store *store; /* lent */
	/* Bytes of --mem that are for nothing else, and those that the store has at first; UINT64_MAX: no --mem. */
	uint64_t spare;
	struct table_worker {
		struct worker *w;
		int64_t owner; /* owner of the file that it has; -1: none */
		uint64_t memory; /* limit of the maker of its table */
	} workers[TABLE_CACHE_WORKERS];
	int poll; /* epoll descriptor: readable when a worker has an answer */
	struct table_queue waiting;
	struct slow_user {
		uid_t uid;
		uint64_t until, lasts; /* stacks do not wait for the user until then; for how long */
	} slow[TABLE_CACHE_SLOW];
	struct procs *procs;
	struct table *items; /* by file number */
	size_t n, cap;
	uint64_t retry_at; /* no file is to be tried again before; 0: none at all */
	struct table_copy {
		uint32_t question;
		uint64_t bytes;
	} *copies; /* copies of files that are not local */
	size_t n_copies, cap_copies;
	/* Totals. */
	uint64_t built, refused, evicted;
	uint32_t questions;
	uint64_t cpu_ns; /* CPU time of the workers */
	/* Called when a file turns out to hold an interpreter; NULL: nobody asks. */
	void (*interpreter)(void *arg, uint32_t exe, const struct lang_image *image);
	void *interpreter_arg;
	struct buf complaint; /* a sentence that is not printed yet, or empty */
	uint64_t losses; /* table_cache_losses that were reported */
	bool said_refused, said_unbuilt;
};

#define TABLE_CACHE_PATIENCE 2000000000ull /* ns that a stack waits for a table */

/* Starts the workers: call it before there is anything that they should not inherit. False with errno. */
bool table_cache_init(struct table_cache *t, struct procs *procs);
void table_cache_release(struct table_cache *t);
/* Returns a descriptor that is readable when table_cache_step has something to do. */
int table_cache_fd(const struct table_cache *t);
/* Returns how often a fork server was lost. */
uint64_t table_cache_losses(const struct table_cache *t);

/* Returns the number of an executable's table in the store, a new one if need be; 0: there is none left. */
uint32_t table_cache_number(struct table_cache *t, uint32_t exe);
/* procs forgets the executable with this number. */
void table_cache_forget(struct table_cache *t, uint32_t number, uint64_t now);

/*
 * Asks for the table of the file mapped at m, which a stack of this process needs. True: the answer is worth
 * waiting for. False: the store's state of the file is final for this stack.
 */
bool table_cache_want(struct table_cache *t, const struct proc *p, const struct map *m, uint64_t now);
/*
 * Drops a file's table: the next stack through it asks for it, and the worker looks for an interpreter
 * again.
 */
void table_cache_again(struct table_cache *t, uint32_t number, uint64_t now);
/* Lets the file with this number go before others of its owner, from the next question on. */
void table_cache_prefer(struct table_cache *t, uint32_t number);
/* Takes the opener's answer to a question of the tables, and takes over its descriptor. */
void table_cache_opened(struct table_cache *t, const struct opener_answer *a, uint64_t now);
/* Notes that a stack went through the table. */
static inline void table_cache_touch(struct table_cache *t, uint32_t number, uint64_t now)
{
	if (number < t->n)
		t->items[number].touched = now;
}

/* Takes the workers' answers, and lets refused tables be asked for again when it is time. */
void table_cache_step(struct table_cache *t, uint64_t now);

#endif
