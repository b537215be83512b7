/*
 * The hash room: XXH3 (xxhash), and the two tables that serve everything.
 *
 * struct intern gives each different byte string a small dense id, in order of first sight:
 *
 *	struct intern names;
 *	uint32_t id;
 *
 *	intern_init(&names);
 *	if (!intern_add(&names, slice_of("main"), &id)) ...out of memory...
 *	struct slice s = intern_get(&names, id);	// good until intern_release
 *
 * struct idmap maps a 64-bit key (say, parent node and frame) to a 32-bit value.
 */
#ifndef CPROF_BASE_HASH_H
#define CPROF_BASE_HASH_H

#include "common/base/cursor.h"

uint64_t hash_bytes(const void *p, size_t n); /* XXH3, 64 bits, seed 0 */
uint64_t hash_u64(uint64_t x);

struct intern {
	struct slice *items; /* by id; the bytes live in chunks that never move */
	size_t n, cap;
	struct intern_slot {
		uint32_t id;  /* plus 1; 0: empty */
		uint32_t tag; /* half of the hash, so that most misses cost no look */
	} *slots; /* a power of two of them */
	size_t mask;
	uint8_t *chunk; /* the chunk being filled; its first bytes link to the one before */
	size_t chunk_used, chunk_cap;
	size_t bytes; /* of all items, each with its NUL */
};

void intern_init(struct intern *t);
void intern_release(struct intern *t);
/* Finds or adds; false without memory. The bytes are copied, with a NUL behind them. */
bool intern_add(struct intern *t, struct slice s, uint32_t *id);
/*
 * The same for many: their memory is on its way while others are looked up, which for a table beyond the caches
 * halves the time.
 */
bool intern_add_many(struct intern *t, const struct slice *s, size_t n, uint32_t *ids);
/* Finds only. */
bool intern_find(const struct intern *t, struct slice s, uint32_t *id);
struct slice intern_get(const struct intern *t, uint32_t id);

struct idmap {
	uint64_t *keys;
	uint32_t *values; /* value + 1, 0 is empty */
	size_t n, mask;
};

void idmap_init(struct idmap *m);
void idmap_release(struct idmap *m);
void idmap_clear(struct idmap *m); /* empties it and keeps the memory */
bool idmap_find(const struct idmap *m, uint64_t key, uint32_t *value);
/* Sets key to value (below UINT32_MAX); false without memory. */
bool idmap_set(struct idmap *m, uint64_t key, uint32_t value);
/* Forgets key; nothing happens when it is not there. */
void idmap_remove(struct idmap *m, uint64_t key);

#endif
