/*
 * Who of those that are recorded still lives: the processes asked for and all that they have started,
 * or the threads asked for. When none is left, so is nothing to record.
 */
#ifndef CPROF_RECORD_TARGETS_H
#define CPROF_RECORD_TARGETS_H

#include "cmd/cprof-record/options.h"
#include "cmd/cprof-record/procs.h"

struct targets {
	pid_t *ids; /* alive, in no order */
	size_t n, cap;
	struct idmap at; /* id to its place there */
	bool threads;
};

/* Of -p, -t or the command; empty, and never asked, for the system. False without memory. */
bool targets_init(struct targets *t, const struct options *o);
void targets_release(struct targets *t);
/* A change that procs has taken in. */
void targets_change(struct targets *t, const struct change *c, const struct change_effect *effect);
/* For ends that no change told of. */
void targets_look(struct targets *t);

#endif
