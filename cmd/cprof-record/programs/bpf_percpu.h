/*
 * The per-CPU rings that the sampling program writes (bpf/percpu.bpf.h), mapped into the recorder. The mapping of a
 * CPU is the program's scratch memory with its counters and samples; samples are read in place.
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_PERCPU_H
#define CPROF_RECORD_PROGRAMS_BPF_PERCPU_H

#include "bpf/sample.h"
#include "cmd/cprof-record/rings/dither.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/rings/queue.h"

struct sample_bpf;

struct percpu {
	const struct sample_bpf *sample; /* loaded */
	struct mapped_ring *items;       /* by CPU */
	size_t n;                        /* possible CPUs */
	int ready; /* a descriptor from percpu_configure that no CPU uses yet; 0: none */
};

/*
 * Sets the size of the rings from o->memory, before the object is loaded. The kernel needs an inner map as a
 * prototype; it becomes the ring of the first CPU. Returns false with errno if it cannot be created.
 */
bool percpu_configure(struct percpu *p, struct sample_bpf *s, const struct options *o);
bool percpu_init(struct percpu *p, const struct sample_bpf *s); /* false: out of memory */
/* Creates the ring of a CPU that has none; it stays until percpu_release. Returns false with errno. */
bool percpu_add(struct percpu *p, unsigned int cpu);
/* Returns the CPU's cumulative counters, or NULL if it has no ring. */
const volatile struct sample_counts *percpu_counts(const struct percpu *p, unsigned int cpu);
/* Sets the period, in ns, by which the program detects missing ticks of a CPU; 0: it detects none. */
void percpu_period(struct percpu *p, unsigned int cpu, uint64_t ns);
/* Queues all samples that the rings hold at the time of the call. d: computes weights; NULL: they stay. */
void percpu_drain(struct percpu *p, struct dither *d, struct queue *q);
void percpu_release(struct percpu *p);

#endif
