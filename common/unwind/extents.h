/*
 * Who owns which part of a long array that consists of shards: pieces are handed out, given back, and
 * used again a while later, since somebody may still be reading them.
 *
 * An extent never lies in two shards. Shards are added by the caller when extents_take finds no room.
 */
#ifndef CPROF_UNWIND_EXTENTS_H
#define CPROF_UNWIND_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t at, n;
};

struct extents {
	uint32_t shard; /* elements of one; set by the caller */
	uint32_t shards;
	struct extent *free;  /* ascending, none touches the next of the same shard */
	size_t n_free, cap_free;
	struct extent_wait {
		struct extent extent;
		uint64_t since;
	} *waiting; /* given back; by time */
	size_t n_waiting, cap_waiting;
	uint64_t used; /* elements in use, those that wait included */
};

void extents_release(struct extents *x);
/* One more shard. False without memory. */
bool extents_grow(struct extents *x);
/* n elements in a row, 0 < n <= shard. False: there is no room for them. */
bool extents_take(struct extents *x, uint32_t n, uint32_t *at);
/* Gives back, for use after extents_reap with a later time; now 0: nobody has seen it, at once. Without memory it is lost. */
void extents_give(struct extents *x, uint32_t at, uint32_t n, uint64_t now);
/* What was given back before this time is free. */
void extents_reap(struct extents *x, uint64_t before);

#endif
