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

/* Who waits for long is told of so often at least, so that its time is found where it was spent, and not lost with us. */
#define SETTLE_INTERVAL 5000000000ull /* ns */

/* Takes in and writes all that happened up to until. False: something waits for an unwind table. */
bool steps_until(struct recorder *r, uint64_t until);
/* All that there is, now that no more comes. */
void steps_finish(struct recorder *r);
/* Waits that go on are told of up to now: the next step takes that in. */
void steps_settle(struct recorder *r);
/* What happened up to now is taken in and written, unless something waits for an unwind table for long. */
void steps_write(struct recorder *r, uint64_t now);
/* Both, where it is to be the last of a file. */
void steps_settle_whole(struct recorder *r);
/*
 * Since when the waits are that have not been written yet; after a step. 0: that is not known, for some have been held up for very
 * long. But for short ones that the kernel's part adds up, see bpf/offcpu.bpf.c.
 */
uint64_t steps_waits_since(const struct recorder *r);
/* The row of the ledger that a sample counts in. */
size_t steps_row_of(const struct recorder *r, const struct sample_head *s);

#endif
