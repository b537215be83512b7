/*
 * The recorder's own figures in the Prometheus text format, for node_exporter's textfile collector.
 *
 *	metrics_file_open(&r.metrics_file, r.o.metrics);
 *	metrics_write(&r, now, false);	// into the file of --metrics
 *
 * The file is replaced as a whole, so that no reader sees half of it, and a link at its path is not followed.
 * All counters begin at 0 when the recorder starts.
 * https://prometheus.io/docs/instrumenting/exposition_formats
 */
#ifndef CPROF_RECORD_METRICS_H
#define CPROF_RECORD_METRICS_H

#include "cmd/cprof-record/recorder.h"

enum { METRICS_SECONDS = 5 }; /* time between two writes */

/* Writes the file if METRICS_SECONDS have passed, or if last is set. Returns false with errno. */
bool metrics_write(struct recorder *r, uint64_t now, bool last);

#endif
