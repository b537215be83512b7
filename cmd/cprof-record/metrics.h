/*
 * The recorder's own figures, for node_exporter's textfile collector: the text form of Prometheus.
 *
 *	metrics_write(&r, now, false);	// to where --metrics says
 *
 * The file is replaced as a whole, so that nobody reads half of it. All counters are of the recording, which begins
 * anew with the recorder. https://prometheus.io/docs/instrumenting/exposition_formats
 */
#ifndef CPROF_RECORD_METRICS_H
#define CPROF_RECORD_METRICS_H

#include "cmd/cprof-record/recorder.h"

enum { METRICS_SECONDS = 5 }; /* between two */

/* Every METRICS_SECONDS, and where last is set; false: errno. */
bool metrics_write(struct recorder *r, uint64_t now, bool last);

#endif
