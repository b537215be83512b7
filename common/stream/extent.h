/*
 * Where a segment of a file ends, and which time it tells of: from its header, its first sample and its END, without reading
 * what lies between. For who looks for ten seconds in an hour.
 *
 *	struct extent x;
 *
 *	if (extent_of(fd, at, &x) && (x.to < wanted_from || x.waits >= wanted_to))
 *		...go on at x.end...
 */
#ifndef CPROF_STREAM_EXTENT_H
#define CPROF_STREAM_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A sample of waiting time tells of time before its own, and so a segment of time before its first sample. How far back says the
 * recorder in the header (waits-since-monotonic-ns): it tells of all waits that go on at the end of each file, and every five
 * seconds at most of a host with less than thousands of threads (SETTLE_INTERVAL and SETTLE_SHARE of cmd/cprof-record/steps.[ch]),
 * so that is milliseconds before a file, and seconds before a segment within one. Of a header that does not say it, as those of
 * older recorders, EXTENT_REACH is taken for it.
 *
 * Short waits that were added up before they came to --off-cpu's MIN may be older, and are not looked for.
 */
enum { EXTENT_REACH_SECONDS = 10 };
#define EXTENT_REACH (EXTENT_REACH_SECONDS * UINT64_C(1000000000))

struct extent {
	uint64_t end;      /* byte of the file behind its last block */
	uint64_t blocks;   /* that it has, with its header */
	uint64_t from, to; /* of its first sample and of its END, nanoseconds since 1970; both of END where there is no sample */
	uint64_t waits;    /* begin of the waits that it tells of: from or earlier; from where it is of none */
};

/* What struct extent has as waits. first: from, as time of the segment; since: what the header says, where it is told. */
uint64_t extent_waits(uint64_t first, bool told, uint64_t since);

/*
 * at: byte of the file where the segment's header begins. False where it cannot be told, and the segment has to be read: a
 * head or one of the blocks that are looked at is damaged, blocks are missing, END does not stand in the last block, the header
 * has no clock; or it cannot be read.
 */
bool extent_of(int fd, uint64_t at, struct extent *x);

#endif
