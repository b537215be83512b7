/*
 * The current mappings of one process: disjoint, found by address.
 *
 * perf does not report munmap, so a new mapping ends every mapping that it overlaps, in whole or in part.
 *
 * A forked process starts with its parent's mappings, and compile farms fork thousands of processes with
 * hundreds of mappings each. So the mappings form a balanced tree of immutable nodes: a copy shares all
 * nodes, and a change copies only the nodes on its path, a number logarithmic in the number of mappings.
 * Memory therefore grows only with the number of records, even in a malicious stream.
 */
#ifndef CPROF_CAPTURE_MAPS_H
#define CPROF_CAPTURE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t start, end; /* start <= address < end */
	uint64_t offset;     /* file offset of start, bytes */
	uint32_t file;       /* 0: anonymous */
	uint32_t prot;       /* 1 read, 2 write, 4 execute */
};

struct map_node;

/* A zeroed struct is empty. */
struct maps {
	struct map_node *root;
};

/*
 * Adds m. Sets *changed to true if a mapped address now means something else than before, and otherwise
 * leaves it alone. Returns false if out of memory; the mappings are then unchanged.
 */
bool maps_add(struct maps *s, const struct map *m, bool *changed);
/* Removes [start, end). Returns and sets *changed like maps_add. */
bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed);
/* Returns the mapping at this address, or NULL. Valid until the next change. */
const struct map *maps_find(const struct maps *s, uint64_t address);
/*
 * Returns the first mapping that ends after this address, or NULL. Begin with 0 and go on with the end of
 * each result to visit all in order.
 */
const struct map *maps_from(const struct maps *s, uint64_t address);
size_t maps_count(const struct maps *s);
/* Makes s, which must be empty, a copy of from in constant time. */
void maps_copy(struct maps *s, const struct maps *from);
void maps_release(struct maps *s);

#endif
