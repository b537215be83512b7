/*
 * Drains the kernel's rings to the stream: all records up to a moment, in order of time.
 *
 *	drain_until(&r, now - MARGIN);	// every quarter of a second, or sooner
 *	...
 *	drain_finish(&r);		// sampling has ended: everything that is left
 */
#ifndef CPROF_RECORD_DRAIN_H
#define CPROF_RECORD_DRAIN_H

#include "cmd/cprof-record/recorder.h"

enum { MARGIN = 2000000 }; /* ns: younger records may still be on their way into a ring */

/*
 * Long waits are reported at least this often, so that their time is recorded where it was spent, and is not
 * lost if the recorder dies.
 */
#define WAITS_INTERVAL 5000000000ull /* ns */

/* Applies and writes all records up to a time (CLOCK_MONOTONIC, ns). False: one waits for an unwind table. */
bool drain_until(struct recorder *r, uint64_t until);
/* Writes all records that are left, after sampling has ended. */
void drain_finish(struct recorder *r);
/* Has current waits reported up to now; the next drain reads the reports. */
void drain_report_waits(struct recorder *r);
/* Applies and writes all records up to now, unless one waits too long for an unwind table. */
void drain_write(struct recorder *r, uint64_t now);
/* Has current waits reported, and writes the reports, for the end of a file. */
void drain_write_waits(struct recorder *r);
/*
 * Returns the earliest time, after a drain, at which a wait that is not written yet can have begun. 0:
 * unknown, because some records have been held up for very long. Does not cover short waits that the BPF
 * program adds up: see bpf/offcpu.bpf.c.
 */
uint64_t drain_waits_since(const struct recorder *r);
/* Returns the row of the ledger that a sample counts in. */
size_t drain_row_of(const struct recorder *r, const struct sample_head *s);

#endif
