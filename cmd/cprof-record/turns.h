/*
 * What is done once a second: the account is written, the block is handed over, and where it is time the segment, the
 * file or the rate is another from there on.
 *
 *	turns_flush(&r, now);
 */
#ifndef CPROF_RECORD_TURNS_H
#define CPROF_RECORD_TURNS_H

#include "cmd/cprof-record/recorder.h"

void turns_flush(struct recorder *r, uint64_t now);
/* Writes the ledger; last: nothing more will come. */
void turns_ledger(struct recorder *r, uint64_t now, bool last);
/*
 * From one file to the next, without a sample between them; or, where something could not be written, with those lost.
 * The segment has not been ended yet.
 */
void turns_next(struct recorder *r, uint64_t now, enum output_state state);

#endif
