/*
 * The flight buffer: the newest segments of a capture, in memory. The oldest are dropped.
 *
 *	struct recent m = { .most_ns = 60 * SECOND, .most_bytes = 256 << 20 };
 *
 *	fd = recent_begin(&m, now);		// write to fd from now on, beginning with a segment
 *	...
 *	if (recent_due(&m, now))		// the part is long enough: end the segment, and begin another
 *		...
 *	recent_copy(&m, file, &bytes);		// everything, with the segment that is still being written
 *	recent_release(&m);
 *
 * Each part is a segment that can be read by itself. It covers a RECENT_PARTS'th of the requested time and
 * bytes, but at least a second. So the buffer always holds the requested amount, and at most one part more.
 */
#ifndef CPROF_RECORD_OUTPUT_FLIGHT_BUFFER_H
#define CPROF_RECORD_OUTPUT_FLIGHT_BUFFER_H

#include "common/base/buf.h"

enum { RECENT_PARTS = 8 };

struct recent {
	uint64_t most_ns, most_bytes; /* to keep */
	struct recent_part {
		int fd;
		uint64_t began; /* CLOCK_MONOTONIC, ns */
	} parts[RECENT_PARTS + 2];
	size_t n;
};

/* Begins a part. Returns its descriptor, which m keeps and closes; -1 with errno. */
int recent_begin(struct recent *m, uint64_t now);
/* Is the last part long or large enough for another one to begin? */
bool recent_due(const struct recent *m, uint64_t now);
/*
 * Appends the newest parts to a file, as many as most_bytes allows and at least one. *bytes: how many were
 * written. False with errno.
 */
bool recent_copy(const struct recent *m, int to, uint64_t *bytes);
/* Drops all parts and closes their descriptors. */
void recent_release(struct recent *m);

#endif
