/* The losses that a recording reports, in the words that all views use. */
#ifndef CPROF_CMD_LOSSES_H
#define CPROF_CMD_LOSSES_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

/* Returns the number of ticks that should have become samples and did not. */
uint64_t losses_count(const struct capture_totals *t);
/* Returns the number of lost events that are not ticks. */
uint64_t losses_events(const struct capture_totals *t);
/* Returns whether waits were recorded: only then does "0 waits lost" say something. */
bool losses_waits(const struct capture_totals *t);
/*
 * Appends "12 of 11880 expected samples lost (ring-full 12)" and the numbers of mappings and files of
 * processes that the recorder could not read; or nothing if nothing is missing.
 */
void losses_print(struct buf *out, const struct capture_totals *t);

#endif
