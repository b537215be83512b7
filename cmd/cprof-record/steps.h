/*
 * From the kernel's rings to the stream: what happened up to some moment, in order of time.
 *
 *	steps_until(&r, now - MARGIN);	// every quarter of a second, or sooner
 *	...
 *	steps_finish(&r);		// sampling has ended: all that there is
 */
#ifndef CPROF_RECORD_STEPS_H
#define CPROF_RECORD_STEPS_H

#include "cmd/cprof-record/recorder.h"

enum { MARGIN = 2000000 }; /* ns: what is younger may still be on its way into a ring */

/* Takes in and writes all that happened up to until. False: something waits for an unwind table. */
bool steps_until(struct recorder *r, uint64_t until);
/* All that there is, now that no more comes. */
void steps_finish(struct recorder *r);
/* The row of the ledger that a sample counts in. */
size_t steps_row_of(const struct recorder *r, const struct sample_head *s);

#endif
