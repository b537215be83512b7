/*
 * The executable files of struct procs, for procs.c.
 *
 *	m.file = procs_exe_of(ps, pid, change);	// a new mapping
 *	procs_clear_exes(ps);			// now and then
 */
#ifndef CPROF_RECORD_PROCESS_PROCS_EXES_H
#define CPROF_RECORD_PROCESS_PROCS_EXES_H

#include "cmd/cprof-record/process/procs.h"

/* Returns the index of a mapping's file in exes, plus 1. 0: out of memory, and ps->failed is set. */
uint32_t procs_exe_of(struct procs *ps, uint32_t pid, const struct change *c);
/*
 * Asks again for build IDs of files whose question had no room, or whose file system did not answer. Has no
 * effect before the time of one has come. It looks through all mappings, so a pause follows.
 */
void procs_ask_exes(struct procs *ps, uint64_t now);
/*
 * Removes files that no process maps: files come and go with builds, containers and JIT compilers. Searches
 * again once there are twice as many files as were in use at the last search.
 */
void procs_clear_exes(struct procs *ps);
void procs_free_exes(struct procs *ps);

#endif
