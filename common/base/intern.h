/*
 * A table that gives each distinct byte string a small dense id, starting at 0, in order of first sight.
 *
 *	struct intern names;
 *	uint32_t id;
 *
 *	intern_init(&names);
 *	if (!intern_add(&names, slice_of("main"), &id)) ...out of memory...
 *	struct slice s = intern_get(&names, id);	// valid until intern_release
 *	intern_release(&names);
 */
#ifndef CPROF_BASE_INTERN_H
#define CPROF_BASE_INTERN_H

#include "common/base/slice.h"

struct intern {
	struct slice *items; /* by id; the bytes live in chunks that never move */
	size_t n, cap;
	struct intern_slot {
		uint32_t id;  /* id + 1; 0: empty */
		uint32_t tag; /* half of the hash: most mismatches are found without reading the bytes */
	} *slots; /* mask + 1 slots, a power of two */
	size_t mask;
	uint8_t *chunk; /* the chunk being filled; its first bytes point to the previous chunk */
	size_t chunk_used, chunk_cap;
	size_t bytes; /* total of all items, each with its NUL */
};

void intern_init(struct intern *t);
void intern_release(struct intern *t);
/* Finds or adds s. Copies new bytes and ends them with a NUL. Returns false if out of memory. */
bool intern_add(struct intern *t, struct slice s, uint32_t *id);
/* Like intern_add for n slices, with prefetching: half the time for a table larger than the CPU caches. */
bool intern_add_many(struct intern *t, const struct slice *s, size_t n, uint32_t *ids);
/* Finds s without adding it. Returns false if it is not in the table. */
bool intern_find(const struct intern *t, struct slice s, uint32_t *id);
struct slice intern_get(const struct intern *t, uint32_t id);

#endif
