/*
 * The recorder's own figures, for node_exporter's textfile collector: the text form of Prometheus.
 *
 *	metrics_open(&r);
 *	metrics_write(&r, now, false);	// to where --metrics says
 *
 * The file is replaced as a whole, so that nobody reads half of it, and no link at its path is followed. All counters are of the recording, which begins
 * anew with the recorder. https://prometheus.io/docs/instrumenting/exposition_formats
 */
#ifndef CPROF_RECORD_METRICS_H
#define CPROF_RECORD_METRICS_H

#include "cmd/cprof-record/recorder.h"

enum { METRICS_SECONDS = 5 }; /* between two */

/* Opens the directory of --metrics. One that is missing is looked for again at each write. */
void metrics_open(struct recorder *r);
void metrics_close(struct recorder *r);
/* Every METRICS_SECONDS, and where last is set; false: errno. */
bool metrics_write(struct recorder *r, uint64_t now, bool last);

#endif
