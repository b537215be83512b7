/* What a recording lost, by its own account, in the words that all views say it with. */
#ifndef CPROF_CMD_LOSSES_H
#define CPROF_CMD_LOSSES_H

#include "common/capture/capture.h"

/* Ticks that should have become samples and did not. */
uint64_t losses_count(const struct capture_totals *t);
/* The same of other events, by their number. */
uint64_t losses_events(const struct capture_totals *t);
/* "12 of 11880 expected samples lost (ring-full 12)", or nothing. */
void losses_print(struct buf *out, const struct capture_totals *t);

#endif
