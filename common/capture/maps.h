/*
 * The mappings of one process as of now: without overlaps, found by address.
 *
 * perf reports no munmap, so a new mapping ends whatever it overlaps, wholly or in part.
 *
 * A process that forks starts with its parent's mappings, and compile farms fork thousands of
 * processes with hundreds of mappings each. So this is a balanced tree whose nodes never change once
 * they are made: a copy shares them all, and a change makes anew only those on the way to it, a
 * number that grows with the logarithm of how many mappings there are. Memory thus grows with the
 * number of records alone, whoever wrote them.
 */
#ifndef CPROF_CAPTURE_MAPS_H
#define CPROF_CAPTURE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t start, end; /* start <= address < end */
	uint64_t offset;     /* of start in the file, bytes */
	uint32_t file;       /* 0: anonymous */
	uint32_t prot;       /* 1 read, 2 write, 4 execute */
};

struct map_node;

/* Zeroes are none. */
struct maps {
	struct map_node *root;
};

/*
 * Adds m. *changed becomes true where some address now means something else than it did before
 * (it is left alone otherwise). False without memory; the mappings then are as they were.
 */
bool maps_add(struct maps *s, const struct map *m, bool *changed);
/* Removes [start, end); the same return as above. */
bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed);
/* The mapping at this address, or NULL; good until the next change. */
const struct map *maps_find(const struct maps *s, uint64_t address);
/* The first mapping that ends behind this address: with 0, then each one's end, all of them in order. */
const struct map *maps_from(const struct maps *s, uint64_t address);
size_t maps_count(const struct maps *s);
/* Makes the empty s the same as from. Costs nothing. */
void maps_copy(struct maps *s, const struct maps *from);
void maps_release(struct maps *s);

#endif
