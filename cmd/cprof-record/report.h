/* What the recorder says of a recording on standard error and to a service manager: while it runs, and at its end. */
#ifndef CPROF_RECORD_REPORT_H
#define CPROF_RECORD_REPORT_H

#include "cmd/cprof-record/recorder.h"

/* On a terminal, in one line that is written over. */
void report_progress(const struct recorder *r, uint64_t now);
/* The same in a line for whoever watches over us. */
void report_status(const struct recorder *r, uint64_t now, struct buf *out);
/* What is missing of a perf map, once. */
void report_complaints(struct recorder *r);
/* Samples, processes, bytes, what was lost, what it cost; how the command ended. */
void report_summary(const struct recorder *r);

#endif
