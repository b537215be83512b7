/*
 * The end of a segment in a file and the time that it covers, found from its header, its first sample and its
 * END without reading the blocks between them. For readers that look for ten seconds in an hour.
 *
 *	struct segment_extent x;
 *
 *	if (segment_extent_read(fd, at, &x) && (x.to < wanted_from || x.waits >= wanted_to))
 *		...go on at x.end...
 */
#ifndef CPROF_STREAM_SEGMENT_EXTENT_H
#define CPROF_STREAM_SEGMENT_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A sample of waiting time covers time before its own, so a segment covers time before its first sample. The
 * header records how far back (waits-since-monotonic-ns). The recorder reports all waits that are still going
 * on at the end of each file, and at least every five seconds unless the host has thousands of threads
 * (WAITS_INTERVAL and REPORT_SHARE in cmd/cprof-record/drain.[ch]). So the reach is milliseconds for the
 * first segment of a file, and seconds for later ones. SEGMENT_REACH is used for headers without the key, as
 * older recorders wrote them.
 *
 * Short waits that were added up before they reached the MIN of --off-cpu may be older; they are not
 * considered.
 */
enum { SEGMENT_REACH_SECONDS = 10 };
#define SEGMENT_REACH (SEGMENT_REACH_SECONDS * UINT64_C(1000000000))

struct segment_extent {
	uint64_t end;    /* byte offset in the file after the last block */
	uint64_t blocks; /* number of blocks, including the header */
	/* Nanoseconds since 1970. */
	uint64_t from, to; /* times of the first sample and of END; both that of END if there is no sample */
	uint64_t waits;    /* earliest begin of a wait, at most from; from if no event is of waiting time */
};

/*
 * Computes the earliest begin of a wait from the time of the first sample, both in the segment's clock.
 * since: the value in the header, used if has_since is true.
 */
uint64_t segment_extent_waits(uint64_t first, bool has_since, uint64_t since);

/*
 * Reads the extent of the segment whose header begins at byte offset at. Returns false if the segment has to
 * be read instead: a head or one of the blocks examined is damaged, blocks are missing, END is not in the
 * last block, the header has no clock, or the file cannot be read.
 */
bool segment_extent_read(int fd, uint64_t at, struct segment_extent *x);

#endif
