/*
 * What the walk of user stacks knows of processes: here, of each one a stack of which is finished in user
 * space; in the sampling program, of each one that was sampled so, from the next step on.
 *
 * The program thus works with what was true up to a quarter of a second ago. Where that was not true any
 * more when the sample was taken is found out when the sample's turn comes, in order of time with all
 * changes, and the stack ends there. So of a process that has just changed its mappings the program knows
 * nothing, until it has been calm for a while: each of its stacks is walked here, by what was true.
 */
#ifndef CPROF_RECORD_SPACES_H
#define CPROF_RECORD_SPACES_H

#include "bpf/sample.h"
#include "cmd/cprof-record/engine.h"
#include "cmd/cprof-record/tables.h"

struct spaces {
	struct tables *tables;
	struct procs *procs;
	struct engine *engine;
	struct proc **dirty; /* the program is to be told of, in this step */
	size_t n, cap;
	uint64_t refused; /* processes that found no room */
	bool lost;        /* mappings may be missing: the side-band lost some */
	struct buf complaint; /* a sentence that has not been said, or empty */
	bool said_many;
	uint64_t finished; /* stacks */
	uint64_t late;     /* of those that were cut where a table was not made in time */
	bool hurry;        /* nothing waits for tables any more */
};

/* A user stack, as it goes into the stream: addresses as in struct sample_head. */
struct user_stack {
	uint64_t *addresses; /* SAMPLE_DEPTH_MAX */
	int n;
	int end; /* enum walk_end, the numbers of enum root */
};

void spaces_release(struct spaces *s);
/*
 * The stack of this sample of p, walked by tables: gone on with where the program could not, and cut where
 * the program was told something else than was true then. False: it waits for a table; call again, with
 * all as it was.
 */
bool spaces_finish(struct spaces *s, struct proc *p, const struct sample_head *head, struct user_stack *out);
/* Changes, as procs took them in: a mapping; a child. */
void spaces_mapped(struct spaces *s, struct proc *p, const struct map *m);
void spaces_forked(struct spaces *s, struct proc *parent, struct proc *child);
/* All that happened up to now is known: the program is told. */
void spaces_tell(struct spaces *s);
/* procs forgets it. */
void spaces_gone(struct spaces *s, struct proc *p, uint64_t now);

#endif
