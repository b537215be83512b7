/*
 * The user walk: finishes stacks in user space, and publishes mappings of processes to the sampling program.
 * User space knows each process with a stack that is finished here; the program knows it from the next drain
 * on.
 *
 * So the program works with mappings that were true up to a quarter of a second ago. Samples are processed in
 * order of time with all changes. That shows which mappings were out of date when a sample was taken, and the
 * stack is truncated there. So a process that has just changed its mappings is withdrawn from the program
 * until it has been calm for a while: meanwhile its stacks are walked here, by the mappings of that moment.
 */
#ifndef CPROF_RECORD_UNWIND_USER_WALK_H
#define CPROF_RECORD_UNWIND_USER_WALK_H

#include "bpf/sample.h"
#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/unwind/table_cache.h"

struct user_walk {
	struct table_cache *tables;
	struct procs *procs;
	struct engine *engine;
	struct proc **dirty; /* to be published to the program in this drain */
	size_t n, cap;
	uint64_t refused; /* processes that found no room */
	struct buf complaint; /* a sentence that is not printed yet, or empty */
	bool said_many;
	uint64_t finished; /* stacks */
	uint64_t since;    /* when the first one was known to be finished; 0: none yet */
	bool asked, tried; /* the walk is wanted in the kernel at once; loading it there was tried */
	uint64_t late;     /* stacks that were cut because a table was not made in time */
	bool dont_wait;    /* the next stack does not wait for a table */
};

/* A user stack, as it goes into the stream: addresses as in struct sample_head. */
struct user_stack {
	uint64_t *addresses; /* SAMPLE_DEPTH_MAX */
	int n;
	int end; /* enum walk_end, the numbers of enum root */
	/* The frames from `finished` on were found here; their rbp, the lower half, is in fps, by index. */
	int finished;
	uint32_t *fps; /* SAMPLE_DEPTH_MAX */
};

void user_walk_release(struct user_walk *s);
/*
 * From the next publication on, the program of this language (enum lang_kind) walks the code of p that has no
 * table; 0: none does.
 */
void user_walk_language(struct user_walk *s, struct proc *p, uint32_t language);
/*
 * Sets the table of p's JIT code between these addresses, by its number; 0: there is none. The table before
 * is dropped once the program no longer reads it.
 */
void user_walk_jit(struct user_walk *s, struct proc *p, uint32_t number, uint64_t start, uint64_t end,
		   uint64_t now);
/*
 * Finishes the stack of a sample of p that was walked by tables: continues it where the program could not,
 * and cuts it where the program's mappings were out of date. False: the stack waits for a table; call again
 * with everything as it was.
 */
bool user_walk_finish(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out);
/* Notes a change that procs has applied: a mapping; a child. */
void user_walk_mapped(struct user_walk *s, struct proc *p, const struct map *m);
void user_walk_forked(struct user_walk *s, struct proc *parent, struct proc *child);
/* Publishes changed processes to the program. All changes up to now must have been applied. */
void user_walk_publish(struct user_walk *s);
/* procs forgets the process: withdraws it from the program, and gives back its memory in the store. */
void user_walk_gone(struct user_walk *s, struct proc *p, uint64_t now);

#endif
