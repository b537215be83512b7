/*
 * The perf maps of a segment's processes, and the frames that wait for one to name them.
 */
#ifndef CPROF_RESOLVE_JIT_H
#define CPROF_RESOLVE_JIT_H

#include "common/resolve/perfmap.h"

struct jit_process {
	struct perfmap map;
	uint64_t generation;
	uint32_t *waiting; /* places without a name as of their sample */
	size_t n_waiting, cap_waiting;
};

struct jit {
	struct jit_process *processes; /* by id */
	size_t n, cap;
};

/* Called for a waiting place that the new piece may name; true: it waits no longer. */
typedef bool jit_try(void *arg, uint32_t place, const struct perfmap_run *run);

void jit_release(struct jit *j);
/* Lets the place wait for the process's next piece. False without memory. */
bool jit_wait(struct jit *j, uint32_t process, uint32_t place);
/* A piece has come: shows it to the places that wait, then adds it to the map. */
bool jit_add(struct jit *j, uint32_t process, uint64_t generation, struct slice data, jit_try *try, void *arg);
/* The name of this address in this process as of now. */
bool jit_find(const struct jit *j, uint32_t process, uint64_t address, struct perfmap_hit *hit);

#endif
