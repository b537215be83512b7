/*
 * The flight buffer: the newest segments of a capture, in memory. The oldest are dropped.
 *
 *	struct flight_buffer m = { .most_ns = 60 * SECOND, .most_bytes = 256 << 20 };
 *
 *	fd = flight_buffer_begin(&m, now);		// write to fd from now on, beginning with a segment
 *	...
 *	if (flight_buffer_due(&m, now))		// the part is long enough: end the segment, and begin another
 *		...
 *	flight_buffer_copy(&m, file, &bytes);		// all parts, with the segment still being written
 *	flight_buffer_drop(&m, now);			// the copied parts
 *	flight_buffer_release(&m);
 *
 * Each part is a segment that can be read by itself. It covers a FLIGHT_BUFFER_PARTS'th of the requested time and
 * bytes, but at least a second. So the buffer always holds the requested amount, and at most one part more.
 */
#ifndef CPROF_RECORD_OUTPUT_FLIGHT_BUFFER_H
#define CPROF_RECORD_OUTPUT_FLIGHT_BUFFER_H

#include "common/base/buf.h"

enum { FLIGHT_BUFFER_PARTS = 8 };

struct flight_buffer {
	uint64_t most_ns, most_bytes; /* to keep */
	struct flight_buffer_part {
		int fd;
		uint64_t began; /* CLOCK_MONOTONIC, ns */
	} parts[FLIGHT_BUFFER_PARTS + 2];
	size_t n;
	void (*progress)(void *arg); /* called for each piece that is copied; NULL: nothing */
	void *progress_arg;
};

/* Begins a part. Returns its descriptor, which m keeps and closes; -1 with errno. */
int flight_buffer_begin(struct flight_buffer *m, uint64_t now);
/* Is the last part long or large enough for another one to begin? */
bool flight_buffer_due(const struct flight_buffer *m, uint64_t now);
/* Returns the first part to copy: the newest ones are copied, as many as most_bytes allows, at least one. */
size_t flight_buffer_first(const struct flight_buffer *m);
/* Appends these parts to a file. *bytes: how many were written. False with errno. */
bool flight_buffer_copy(const struct flight_buffer *m, int to, uint64_t *bytes);
/* Drops the parts that began until then. */
void flight_buffer_drop(struct flight_buffer *m, uint64_t until);
/* Drops all parts and closes their descriptors. */
void flight_buffer_release(struct flight_buffer *m);

#endif
