/*
 * A hash table from 64-bit keys (for example, a parent node and a frame) to 32-bit values.
 *
 *	struct idmap map;
 *	uint32_t value;
 *
 *	idmap_init(&map);
 *	if (!idmap_set(&map, key, 7)) ...out of memory...
 *	if (idmap_find(&map, key, &value))
 *		...
 *	idmap_release(&map);
 */
#ifndef CPROF_BASE_IDMAP_H
#define CPROF_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap {
	uint64_t *keys;
	uint32_t *values; /* value + 1; 0: empty */
	size_t n, mask;
};

void idmap_init(struct idmap *m);
void idmap_release(struct idmap *m);
void idmap_clear(struct idmap *m); /* empties the map, but keeps the memory if much of it was used */
bool idmap_find(const struct idmap *m, uint64_t key, uint32_t *value);
/* Sets key to value, which is below UINT32_MAX. Returns false if out of memory. */
bool idmap_set(struct idmap *m, uint64_t key, uint32_t value);
/* Removes key, if it is in the map. */
void idmap_remove(struct idmap *m, uint64_t key);

#endif
