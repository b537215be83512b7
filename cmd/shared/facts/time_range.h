/*
 * The time that captures cover, for the message that a window has none of it.
 *
 *	struct time_range r = { 0 };
 *
 *	time_range_note(&r, &recordings, &capture);	// at the end of each segment
 *	time_range_append_length(&r, &text);	// "; recorded: 0 to 60.2 s"
 *	time_range_append_clock(&r, &text);	// "; recorded: 2026-11-21 14:03:20 to 14:04:20 UTC"
 */
#ifndef CPROF_CMD_TIME_RANGE_H
#define CPROF_CMD_TIME_RANGE_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

struct recordings;

/* All zero to begin with. */
struct time_range {
	uint64_t longest;	/* from time 0 of --from to the end of the longest recording */
	uint64_t first, last;	/* nanoseconds since 1970; 0: unknown */
	bool open;		/* something begins at last, and its end is not known */
};

/* all: see recordings_base. */
void time_range_note(struct time_range *r, const struct recordings *all, const struct capture *c);
/* Adds a time that is not read. open: something begins at last. */
void time_range_add(struct time_range *r, uint64_t first, uint64_t last, bool open);
/* Append the times of either kind, or nothing if they are not known. */
void time_range_append_length(const struct time_range *r, struct buf *out);
void time_range_append_clock(const struct time_range *r, struct buf *out);

#endif
