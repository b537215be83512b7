/*
 * Timed stacks as a trace of Perfetto: protos/perfetto/trace of google/perfetto, written by hand, because it
 * takes a dozen fields of a schema of thousands.
 *
 *	struct perfetto_writer *w = perfetto_new(&traces);
 *	struct slice bytes;
 *
 *	while (perfetto_next(w, &bytes))
 *		...write them...
 *	if (perfetto_failed(w)) ...out of memory...
 *	perfetto_free(w);
 *
 * A sample of CPU time is a PerfSample with its stack, and the timebase counts the weight of all samples of
 * its CPU. A wait is a slice on the track of its thread, also with its stack; the annotation "waker" says what
 * ended it, if that is known. If a thread of the trace did, a flow leads from an instant event on its track to
 * one on the track of the thread that it woke. Names, frames and stacks are interned, and precede all events,
 * which are in order of time.
 *
 * Numbers of processes and threads are those of the capture plus PERFETTO_HOST for each host but the first.
 */
#ifndef CPROF_TIMED_PERFETTO_H
#define CPROF_TIMED_PERFETTO_H

#include "common/export/traces.h"

enum { PERFETTO_HOST = 1 << 22 }; /* the kernel's limit of process numbers */

struct perfetto_writer;

/* Traces must be timed and settled, and outlive the writer. Returns NULL if out of memory. */
struct perfetto_writer *perfetto_new(struct traces *s);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool perfetto_next(struct perfetto_writer *w, struct slice *bytes);
bool perfetto_failed(const struct perfetto_writer *w);
void perfetto_free(struct perfetto_writer *w);

#endif
