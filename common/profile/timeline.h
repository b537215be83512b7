/*
 * What something meant when: for each frame its places, or its symbols, in the order of time.
 *
 * capture_place and capture_symbol walk a frame's list. Code of a JIT compiler has as many entries
 * there as its map has grown, and is asked for as many epochs: 3,000 of each took 44 s for 200 frames.
 * Sorted once, it is a binary search.
 *
 *	if (!timeline_places(&t, c) ...out of memory...
 *	at = timeline_find(&t, frame, epoch);	// index into c->places, 0: none
 *	timeline_release(&t);
 */
#ifndef CPROF_PROFILE_TIMELINE_H
#define CPROF_PROFILE_TIMELINE_H

#include "common/capture/capture.h"

struct timeline_moment {
	uint64_t from;
	uint32_t rank; /* of two from the same time the higher one counts, then the later */
	uint32_t at;
};

struct timeline {
	uint32_t *first; /* moments of frame f are [first[f], first[f + 1]) */
	struct timeline_moment *moments;
};

/* Good until the capture takes in another record. False without memory; can be released all the same. */
bool timeline_places(struct timeline *t, const struct capture *c);
/* With those that say that a name was not found: they end the names before them. */
bool timeline_symbols(struct timeline *t, const struct capture *c);
/* The newest that begins no later than the epoch, else the oldest; 0 where there is none. */
uint32_t timeline_find(const struct timeline *t, uint32_t frame, uint64_t epoch);
void timeline_release(struct timeline *t);

#endif
