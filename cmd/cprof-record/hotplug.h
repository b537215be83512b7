/* Follows the recorded CPUs as they go offline and come back. */
#ifndef CPROF_RECORD_HOTPLUG_H
#define CPROF_RECORD_HOTPLUG_H

#include "cmd/cprof-record/recorder.h"

/* Reads which CPUs are online; ends the program if that fails. */
void hotplug_read(struct recorder *r);
/*
 * Expects ticks of each CPU from the time at which the engine began there; sampling has started. CPUs that
 * the engine lacks are tried again later.
 */
void hotplug_begin(struct recorder *r);
/*
 * Attaches to CPUs that came online, and detaches from those that went offline. A CPU that did both since the
 * last call, or while the machine was suspended, is attached again: its ticks meanwhile are expected. An
 * online CPU that cannot be sampled is tried again with each call. Its ticks count as expected and lost, and
 * the first failure is reported. There are no records of changes from before a CPU was attached: processes
 * are read again.
 */
void hotplug_follow(struct recorder *r, uint64_t now);
/* The engine has stopped: no further ticks are expected. */
void hotplug_end(struct recorder *r);

#endif
