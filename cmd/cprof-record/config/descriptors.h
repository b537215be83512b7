/*
 * The number of descriptors that a recording needs, computed before an engine is opened: an engine that runs
 * out of descriptors after its start ends the recording.
 */
#ifndef CPROF_RECORD_CONFIG_DESCRIPTORS_H
#define CPROF_RECORD_CONFIG_DESCRIPTORS_H

#include "cmd/cprof-record/config/options.h"

/* For the BPF engine: the numbers are those of online CPUs and of sampled ones. */
size_t descriptors_for_bpf(const struct options *o, size_t online, size_t sampled);
/* For plain perf: one for each CPU, or one for each pair of recorded thread and CPU. */
size_t descriptors_for_perf(const struct options *o, size_t online);

#endif
