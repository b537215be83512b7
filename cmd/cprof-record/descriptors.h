/*
 * Descriptors that a recording needs, reckoned before an engine is opened: an engine that starts and then finds no
 * descriptor ends the recording.
 */
#ifndef CPROF_RECORD_DESCRIPTORS_H
#define CPROF_RECORD_DESCRIPTORS_H

#include "cmd/cprof-record/options.h"

/* For the BPF engine on so many online CPUs, some of which are sampled. */
size_t descriptors_for_bpf(const struct options *o, size_t online, size_t sampled);
/* For plain perf: one for each CPU, or for each thread that is recorded and each CPU. */
size_t descriptors_for_perf(const struct options *o, size_t online);

#endif
