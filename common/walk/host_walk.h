/*
 * Walks a recorded state: registers, a copied piece of the stack, mappings.
 *
 *	struct unwind_host h = { .store = store, .mappings = m, .n_mappings = n, .stack_at = rsp,
 *				 .stack = bytes };
 *
 *	h.walk = ...registers, exact, inner...
 *	while ((end = unwind_host_step(&h)) == WALK_ON)
 *		...h.walk.regs[UNWIND_RIP]...
 *	if (end == WALK_ASK)		// give file h.walk.file_at a table, or mark it; then step again
 *
 * Nothing outside the copy is read. If a walk needs memory above it, beyond is set: the stack continues after
 * the piece. Mappings that are not in an array are found one by one, without memory:
 *
 *	struct unwind_host h = { .store = store, .find = find, .find_arg = process, ... };
 */
#ifndef CPROF_WALK_HOST_WALK_H
#define CPROF_WALK_HOST_WALK_H

#include "common/walk/walk_memory.h"
#include "common/walk/state.h"
#include "common/walk/store.h"

struct unwind_host {
	struct walk walk;
	const struct store *store;
	struct unwind_memory *memory; /* for this store and these mappings; or NULL */
	const struct unwind_mapping *mappings; /* ascending */
	size_t n_mappings;
	/* Sets *out to the mapping at an address. Returns false if there is none. NULL: mappings has all. */
	bool (*find)(void *arg, uint64_t address, struct unwind_mapping *out);
	void *find_arg;
	struct unwind_mapping found; /* last */
	uint64_t stack_at;
	struct slice stack;
	uint64_t code_at; /* address of the available code; other code is not checked */
	struct slice code;
	bool beyond;
};

/* Goes up one frame. Returns WALK_ON, WALK_ASK or an enum walk_end. */
int unwind_host_step(struct unwind_host *h);

#endif
