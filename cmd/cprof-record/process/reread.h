/*
 * Reads mappings and names again from /proc after the side-band lost records.
 *
 * After a loss each process is read once, when it is sampled. A reading shows the process at one moment. Its
 * changes are returned when the recording reaches that moment, among the side-band's own. Times are
 * CLOCK_MONOTONIC, ns.
 */
#ifndef CPROF_RECORD_PROCESS_REREAD_H
#define CPROF_RECORD_PROCESS_REREAD_H

#include "cmd/cprof-record/process/procs.h"

/* Notes that records of changes before this time were lost: a process is read again when it is sampled. */
void reread_lost(struct procs *ps, uint64_t time);
/* Has a process read that was sampled, unless it lost nothing, or was read a moment ago. */
void reread_want(struct procs *ps, struct proc *p);
/* Takes readings that are finished, and begins others. */
void reread_step(struct procs *ps);
/*
 * Returns the next change found by a reading up to this time; it has been applied to ps as by procs_apply.
 * False: there is none. The text of the change is valid until the next call.
 */
bool reread_next(struct procs *ps, uint64_t until, struct change *c, struct change_effect *effect);

#endif
