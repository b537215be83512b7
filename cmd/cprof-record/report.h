/* Reports of a recording on standard error and to a service manager: while it runs, and at its end. */
#ifndef CPROF_RECORD_REPORT_H
#define CPROF_RECORD_REPORT_H

#include "cmd/cprof-record/recorder.h"

/* Prints the progress on a terminal, in one line that is overwritten. now: CLOCK_MONOTONIC, ns. */
void report_progress(const struct recorder *r, uint64_t now);
/* Appends the progress to out, as one line for a service manager. */
void report_status(const struct recorder *r, uint64_t now, struct buf *out);
/* Prints the pending complaints of all parts, and clears them. */
void report_complaints(struct recorder *r);
/* Prints samples, processes, bytes, losses and cost, and how the command ended. */
void report_summary(const struct recorder *r);
/* Returns the status to end with: that of the command if --exit-status is set and the command has ended. */
int report_exit_status(const struct recorder *r);

#endif
