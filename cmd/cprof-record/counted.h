/*
 * Other events than the clock, by the programs of bpf/event.bpf.c: beside the sampling object, whose unwind tables and
 * filters they use, with one ring for all of them.
 *
 *	c = counted_open(options, &online, sample, by_tables, &error);
 *	counted_begin(c, &cpus, &error);	// from now on they count
 *	...counted_refresh(c); counted_sums(c, i, &sums)...
 *	counted_stop(c);			// what the ring holds can still be taken
 *	counted_close(c);
 */
#ifndef CPROF_RECORD_COUNTED_H
#define CPROF_RECORD_COUNTED_H

#include "bpf/event.h"
#include "cmd/cprof-record/options.h"

struct counted;
struct sample_bpf;

/* Of one event, over all CPUs. */
struct counted_sums {
	uint64_t happened;       /* by perf's own counter; of a tracepoint as often as the program ran or should have */
	uint64_t n[EVENT_COUNTS]; /* never of an earlier moment than happened is */
};

/* NULL: error is a sentence. */
struct counted *counted_open(const struct options *o, const struct cpu_list *online, const struct sample_bpf *sample,
			     bool by_tables, struct buf *error);
void counted_close(struct counted *c); /* NULL is fine */
/* On these CPUs, of which those that are sampled are taken. */
bool counted_begin(struct counted *c, const struct cpu_list *cpus, struct buf *error);
/* Are all events counted on that CPU that should be? */
bool counted_has_cpu(const struct counted *c, unsigned int cpu);
bool counted_add_cpu(struct counted *c, unsigned int cpu); /* false: errno */
void counted_drop_cpu(struct counted *c, unsigned int cpu);
/* The options have another rate now. */
void counted_rate(struct counted *c);
void counted_stop(struct counted *c);
/* While a program of one of these runs on a CPU, does the kernel let the clock's not run there? */
bool counted_keeps_out(const struct counted *c);
/* Its ring of struct sample_head and what follows. */
int counted_ring(const struct counted *c);
void counted_sums(struct counted *c, size_t event, struct counted_sums *sums);

#endif
