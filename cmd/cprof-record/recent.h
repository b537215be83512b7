/*
 * What was recorded last, in memory: segments of a capture, of which the oldest are forgotten.
 *
 *	struct recent m = { .most_ns = 60 * SECOND, .most_bytes = 256 << 20 };
 *
 *	fd = recent_begin(&m, now);		// what comes now is written to fd; it begins with a segment
 *	...
 *	if (recent_due(&m, now))		// it is long enough: end the segment, and begin another
 *		...
 *	recent_copy(&m, file);			// all that there is, the segment that is written last too
 *	recent_release(&m);
 *
 * Each part is a segment that can be read by itself, a RECENT_PARTS'th of the time and of the bytes that are to be
 * kept, but a second at least; so that much of it is always there, and one part more at most.
 */
#ifndef CPROF_RECORD_RECENT_H
#define CPROF_RECORD_RECENT_H

#include "common/base/buf.h"

enum { RECENT_PARTS = 8 };

struct recent {
	uint64_t most_ns, most_bytes;
	struct recent_part {
		int fd;
		uint64_t began;
	} parts[RECENT_PARTS + 2];
	size_t n;
};

/* The descriptor of the part that begins, which stays ours; -1: errno. */
int recent_begin(struct recent *m, uint64_t now);
/* Is the last part long enough? */
bool recent_due(const struct recent *m, uint64_t now);
/* Appends to a file as many of the last parts as most_bytes allows, and the last one in any case; false: errno. */
bool recent_copy(const struct recent *m, int to, uint64_t *bytes);
/* Forgets all parts. */
void recent_release(struct recent *m);

#endif
