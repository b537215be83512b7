/*
 * Mappings and names that the side-band lost, read again from /proc.
 *
 * After a loss each process that is sampled is read once. A reading says how the process was at one moment, and the
 * changes that it brings are handed out when the recording has come to that moment, between the side-band's own.
 */
#ifndef CPROF_RECORD_REREAD_H
#define CPROF_RECORD_REREAD_H

#include "cmd/cprof-record/procs.h"

/* Records of changes before this time were lost. */
void reread_lost(struct procs *ps, uint64_t time);
/* The process was sampled: reads it, unless nothing of it was lost, or reading takes too much of the time. */
void reread_want(struct procs *ps, struct proc *p);
/*
 * The next change that a reading up to this time brings, which has been applied to ps as procs_apply does. False: there is
 * none. The change's text is good until the next call.
 */
bool reread_next(struct procs *ps, uint64_t until, struct change *c, struct change_effect *effect);
/* Calls mark for the mappings of each reading that has not been taken in: their files are in use. */
void reread_mark(struct procs *ps, void (*mark)(struct procs *ps, const struct maps *maps));
void reread_release(struct procs *ps);

#endif
