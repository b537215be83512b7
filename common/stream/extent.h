/*
 * Where a segment of a file ends, and which time it tells of: from its header, its first sample and its END, without reading
 * what lies between. For who looks for ten seconds in an hour.
 *
 *	struct extent x;
 *
 *	if (extent_of(fd, at, &x) && (x.to < wanted_from || x.from >= wanted_to))
 *		...go on at x.end...
 */
#ifndef CPROF_STREAM_EXTENT_H
#define CPROF_STREAM_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

struct extent {
	uint64_t end;      /* byte of the file behind its last block */
	uint64_t blocks;   /* that it has, with its header */
	uint64_t from, to; /* of its first sample and of its END, nanoseconds since 1970; both of END where there is no sample */
};

/*
 * at: byte of the file where the segment's header begins. False where it cannot be told, and the segment has to be read: a
 * head or one of the blocks that are looked at is damaged, blocks are missing, END does not stand in the last block, the header
 * has no clock; or it cannot be read.
 */
bool extent_of(int fd, uint64_t at, struct extent *x);

#endif
