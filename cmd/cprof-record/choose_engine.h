/*
 * Opens the engine: BPF, or plain perf if BPF is refused and the options allow it. Each engine has its own
 * plan of memory and descriptors.
 *
 *	choose_engine_check(r);	// before anything is started
 *	r->engine = choose_engine(r, &idle);
 */
#ifndef CPROF_RECORD_CHOOSE_ENGINE_H
#define CPROF_RECORD_CHOOSE_ENGINE_H

#include "cmd/cprof-record/recorder.h"

/* Ends the program if no engine that may be used gets enough descriptors. */
void choose_engine_check(const struct recorder *r);
/* Sets r->o.memory. Ends the program if no engine can be opened. */
struct engine *choose_engine(struct recorder *r, const struct idle_ranges *idle);

#endif
