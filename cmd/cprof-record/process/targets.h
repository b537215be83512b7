/*
 * The targets of the recording that are still alive: the selected processes and all that they have started,
 * or the selected threads. When none is left, there is nothing more to record.
 */
#ifndef CPROF_RECORD_PROCESS_TARGETS_H
#define CPROF_RECORD_PROCESS_TARGETS_H

#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/process/procs.h"
#include "common/base/idmap.h"

struct targets {
	pid_t *ids; /* alive, in no order */
	size_t n, cap;
	struct idmap at; /* id to its index in ids */
	bool threads;
	size_t looks;
};

/* Takes the targets from -p, -t or the command; the whole system has none. False: out of memory. */
bool targets_init(struct targets *t, const struct options *o);
void targets_release(struct targets *t);
/* Is this process recorded? True for the whole system, too; threads are not looked up. */
bool targets_has(const struct targets *t, const struct options *o, uint32_t pid);
/* Notes a change that procs has applied. */
void targets_change(struct targets *t, const struct change *c, const struct change_effect *effect);
/* Returns true if the process, or this one thread, has exited, even if nobody has waited for it yet. */
bool targets_exited(pid_t id, bool thread);
/* Drops targets that exited without a record of it. */
void targets_look(struct targets *t);

#endif
