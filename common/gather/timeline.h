/*
 * The meanings of frames over time: for each frame its places, or its symbols, in the order of time.
 *
 * capture_place and capture_symbol walk a frame's list. For JIT code the list grows with its map, and lookups
 * come for as many epochs: 3,000 of each took 44 s for 200 frames. Sorted once, a lookup is a binary search.
 *
 *	if (!timeline_places(&t, c) ...out of memory...
 *	at = timeline_find(&t, frame, epoch);	// index into c->places, 0: none
 *	timeline_release(&t);
 */
#ifndef CPROF_GATHER_TIMELINE_H
#define CPROF_GATHER_TIMELINE_H

#include "common/capture/capture.h"

struct timeline_moment {
	uint64_t from;
	uint32_t rank; /* at the same time the higher one counts, then the later one */
	uint32_t at;
};

struct timeline {
	uint32_t *first; /* moments of frame f are [first[f], first[f + 1]) */
	struct timeline_moment *moments;
};

/* Valid until the capture takes in another record. Returns false if out of memory; release it even then. */
bool timeline_places(struct timeline *t, const struct capture *c);
/* The same for symbols, including records that a name was not found: they end the names before them. */
bool timeline_symbols(struct timeline *t, const struct capture *c);
/* Returns the newest that begins no later than the epoch, otherwise the oldest; 0 if there is none. */
uint32_t timeline_find(const struct timeline *t, uint32_t frame, uint64_t epoch);
void timeline_release(struct timeline *t);

#endif
