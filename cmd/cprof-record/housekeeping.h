/*
 * Housekeeping, once a second: drains, writes the ledger and flushes the block. When it is time, it begins
 * another segment or file, or changes the rate. Times are CLOCK_MONOTONIC, ns.
 *
 *	housekeeping_flush(&r, now);
 */
#ifndef CPROF_RECORD_HOUSEKEEPING_H
#define CPROF_RECORD_HOUSEKEEPING_H

#include "cmd/cprof-record/recorder.h"

void housekeeping_flush(struct recorder *r, uint64_t now);
/* Writes the ledger; last: nothing more will come. */
void housekeeping_ledger(struct recorder *r, uint64_t now, bool last);
/*
 * Changes from one file to the next, without losing a sample between them. If something could not be written,
 * its samples are counted as lost. The current segment must not have been ended yet.
 */
void housekeeping_next_file(struct recorder *r, uint64_t now, enum output_state state);

#endif
