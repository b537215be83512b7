/*
 * Allocates parts of a long array that consists of shards. A part that was given back is reused a while
 * later, because it may still be read.
 *
 * An extent never spans two shards. The caller adds a shard if extents_take finds no room.
 */
#ifndef CPROF_WALK_EXTENTS_H
#define CPROF_WALK_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t at, n;
};

struct extents {
	uint32_t shard; /* elements of one shard; set by the caller */
	uint32_t shards;
	struct extent *free;  /* ascending; none touches the next of the same shard */
	size_t n_free, cap_free;
	struct extent_wait {
		struct extent extent;
		uint64_t since;
	} *waiting; /* given back; by time */
	size_t n_waiting, cap_waiting;
	uint64_t used; /* elements in use, including those that wait */
};

void extents_release(struct extents *x);
/* Adds a shard. Returns false if out of memory. */
bool extents_grow(struct extents *x);
/* Takes n consecutive elements, 0 < n <= shard. Returns false if there is no room for them. */
bool extents_take(struct extents *x, uint32_t n, uint32_t *at);
/*
 * Gives an extent back. It is free after an extents_reap with a later time; at once if now is 0, which means
 * that nobody has seen it. If out of memory, the extent is lost.
 */
void extents_give(struct extents *x, uint32_t at, uint32_t n, uint64_t now);
/* Frees the extents that were given back before this time. */
void extents_reap(struct extents *x, uint64_t before);

#endif
