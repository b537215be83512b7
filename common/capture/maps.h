/*
 * The mappings of one process as of now: sorted, without overlaps.
 *
 * perf reports no munmap, so a new mapping ends whatever it overlaps, wholly or in part.
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

struct maps {
	struct map *items;
	size_t n, cap;
};

/*
 * Adds m. *changed becomes true where some address now means something else than it did before
 * (it is left alone otherwise). False without memory; the mappings then are as they were.
 */
bool maps_add(struct maps *s, const struct map *m, bool *changed);
/* Removes [start, end); the same return as above. */
bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed);
const struct map *maps_find(const struct maps *s, uint64_t address);
/* Makes a copy of from in the empty s. */
bool maps_copy(struct maps *s, const struct maps *from);
void maps_release(struct maps *s);

#endif
