/*
 * Events other than the clock, sampled by the programs of bpf/event.bpf.c. They share the unwind tables and
 * filters of the sampling object, and one ring among themselves.
 *
 *	c = counted_open(options, &online, sample, by_tables, &error);
 *	counted_begin(c, &cpus, &error);	// counting starts
 *	...counted_sums(c, i, &sums)...
 *	counted_stop(c);			// the samples in the ring can still be read
 *	counted_close(c);
 */
#ifndef CPROF_RECORD_SOURCE_BPF_EVENTS_H
#define CPROF_RECORD_SOURCE_BPF_EVENTS_H

#include "bpf/event.h"
#include "cmd/cprof-record/config/options.h"

/* Samples a second and CPU. */
struct engine_rate {
	unsigned int hertz; /* ticks, and hardware events */
	unsigned int most;  /* of an event that is counted in software: at most */
};

struct counted;
struct sample_bpf;

/* One event's counts, over all CPUs. */
struct counted_sums {
	uint64_t happened;       /* by perf's counter; for a tracepoint, the program's runs and missed runs */
	uint64_t n[EVENT_COUNTS]; /* read after happened, never before */
};

/* options must outlive the object. NULL: error is a sentence. */
struct counted *counted_open(const struct options *o, const struct cpu_list *online, const struct sample_bpf *sample,
			     bool by_tables, struct buf *error);
void counted_close(struct counted *c); /* NULL is fine */
/* Starts counting on those of the given CPUs that are to be sampled. False: error is a sentence. */
bool counted_begin(struct counted *c, const struct cpu_list *cpus, struct buf *error);
/* Returns true if each event that should be counted on the CPU is counted there. */
bool counted_has_cpu(const struct counted *c, unsigned int cpu);
bool counted_add_cpu(struct counted *c, unsigned int cpu); /* false: errno */
void counted_drop_cpu(struct counted *c, unsigned int cpu);
/* Samples come at another rate from now on. */
void counted_rate(struct counted *c, const struct engine_rate *to);
void counted_stop(struct counted *c);
/* Returns true if the kernel skips the clock's program on a CPU while one of these programs runs there. */
bool counted_keeps_out(const struct counted *c);
/* Returns the descriptor of the ring buffer; each record is a struct sample_head with its addresses. */
int counted_ring(const struct counted *c);
/* Reads the counts of the event with this index in the options. */
void counted_sums(struct counted *c, size_t event, struct counted_sums *sums);

#endif
