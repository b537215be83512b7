/*
 * JIT code of all processes of a segment, as their perf maps and jitdump files describe it. Places in memory
 * without a file are kept here, because they may be named after the sample that needs the name.
 */
#ifndef CPROF_JIT_JIT_H
#define CPROF_JIT_JIT_H

#include "common/jit/jitdump.h"
#include "common/jit/perfmap.h"

struct jit_process {
	struct perfmap map;
	uint64_t generation;
	uint32_t *waiting; /* places without a name as of their sample */
	size_t n_waiting, cap_waiting;
	struct perfmap_entry *pending; /* entries that the waiting places were not shown, as they came */
	size_t n_pending, cap_pending;
	struct jitdump dump;
	uint32_t *places; /* all kept places */
	size_t n_places, cap_places;
	bool changed; /* it is in the list of these */
};

struct jit {
	struct jit_process *processes; /* by id */
	size_t n, cap;
	uint32_t *changed; /* processes with a jitdump record or a look-up in these since the last revision */
	size_t n_changed, cap_changed;
};

/*
 * Called for a waiting place that new pieces may name. run has their entries, and of several for an address
 * the first one. Returns true if the place is done waiting. There may be a million places and a million small
 * pieces, so pieces are collected until all calls together are about 64 for each entry.
 */
typedef bool jit_try(void *arg, uint32_t place, const struct perfmap_run *run);

void jit_release(struct jit *j);
/* Lets the place wait for the process's next piece. Returns false if out of memory. */
bool jit_wait(struct jit *j, uint32_t process, uint32_t place);
/* Adds a new piece of a perf map, and may show it to the waiting places. Returns false if out of memory. */
bool jit_add(struct jit *j, uint32_t process, uint64_t generation, struct slice data, jit_try *try, void *arg);
/* Shows all pieces to the waiting places. Returns false if out of memory. */
bool jit_try_all(struct jit *j, jit_try *try, void *arg);
/* Finds the name of this address in this process as of now. Returns false if it has none. */
bool jit_find(const struct jit *j, uint32_t process, uint64_t address, struct perfmap_hit *hit);

/* Adds a record of a jitdump file. Returns false if out of memory. */
bool jit_see_code(struct jit *j, const struct record_jitcode *r);
/* Finds the name by the jitdump files, as of that time: 1 named, 0 not, -1 out of memory. */
int jit_find_code(struct jit *j, uint32_t process, uint64_t address, uint64_t time, struct perfmap_hit *hit);
/* Keeps a place of the process for later records of its jitdump files. Returns false if out of memory. */
bool jit_keep(struct jit *j, uint32_t process, uint32_t place);

struct jit_revision {
	/* Sets the address and the time at which a kept place is looked up. */
	void (*ask)(void *arg, uint32_t place, uint64_t *address, uint64_t *time);
	/* Receives the name; returns false if out of memory. */
	bool (*answer)(void *arg, uint32_t place, const struct perfmap_hit *hit);
	void *arg;
};

/*
 * Names the places again of all processes with late jitdump records; last: even if there are few. Returns
 * false if out of memory.
 */
bool jit_revise(struct jit *j, const struct jit_revision *r, bool last);

#endif
