/*
 * The run queues of all CPUs, in which the sampling program counts the threads that have a CPU
 * (bpf/latency/parallel.bpf.h). Unless wanted, the functions do nothing.
 *
 *	run_queues_configure(sample, wanted);				// before loading
 *	if (!run_queues_begin(sample, wanted, &online, &error))		// after it
 *		...error is a sentence...
 */
#ifndef CPROF_RECORD_PROGRAMS_RUN_QUEUES_H
#define CPROF_RECORD_PROGRAMS_RUN_QUEUES_H

#include "cmd/cprof-record/host/host.h"

struct sample_bpf;

void run_queues_configure(struct sample_bpf *s, bool wanted);
bool run_queues_begin(struct sample_bpf *s, bool wanted, const struct cpu_list *online, struct buf *error);
/* Adds a CPU that came online. If it fails, the CPU counts as idle. */
void run_queues_add(struct sample_bpf *s, unsigned int cpu);

#endif
