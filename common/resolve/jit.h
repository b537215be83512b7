/*
 * What JIT compilers told of their code, of all processes of a segment: perf maps and jitdump files; and the
 * places in memory without a file, which either may name later than a sample needs it.
 */
#ifndef CPROF_RESOLVE_JIT_H
#define CPROF_RESOLVE_JIT_H

#include "common/resolve/jitdump.h"
#include "common/resolve/perfmap.h"

struct jit_process {
	struct perfmap map;
	uint64_t generation;
	uint32_t *waiting; /* places without a name as of their sample */
	size_t n_waiting, cap_waiting;
	struct jitdump dump;
	uint32_t *places; /* all that were kept */
	size_t n_places, cap_places;
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

/* A record of a jitdump file. False without memory. */
bool jit_see_code(struct jit *j, const struct record_jitcode *r);
/* By the jitdump files, as of that time: 1 named, 0 not, -1 out of memory. */
int jit_find_code(struct jit *j, uint32_t process, uint64_t address, uint64_t time, struct perfmap_hit *hit);
/* Keeps a place of the process, for what its jitdump files tell later. False without memory. */
bool jit_keep(struct jit *j, uint32_t process, uint32_t place);

struct jit_revision {
	/* Where and when a place that was kept is looked up. */
	void (*ask)(void *arg, uint32_t place, uint64_t *address, uint64_t *time);
	/* What names it; false without memory. */
	bool (*tell)(void *arg, uint32_t place, const struct perfmap_hit *hit);
	void *arg;
};

/* Names anew the places of processes of which something was told late; last: all of them. False without memory. */
bool jit_revise(struct jit *j, const struct jit_revision *r, bool last);

#endif
