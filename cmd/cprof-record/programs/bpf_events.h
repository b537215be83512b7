/*
 * Events other than the clock, sampled by the programs of bpf/event.bpf.c. They share the unwind tables and
 * filters of the sampling object, and one ring among themselves.
 *
 *	c = bpf_events_open(options, &online, sample, by_tables, &error);
 *	bpf_events_begin(c, &cpus, &error);	// counting starts
 *	...bpf_events_sums(c, i, &sums)...
 *	bpf_events_stop(c);			// the samples in the ring can still be read
 *	bpf_events_close(c);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_EVENTS_H
#define CPROF_RECORD_PROGRAMS_BPF_EVENTS_H

#include "bpf/event.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/programs/uprobe.h"

/* Samples a second and CPU. */
struct engine_rate {
	unsigned int hertz; /* ticks, and hardware events */
	unsigned int most;  /* the most for an event that is counted in software */
};

struct bpf_events;
struct sample_bpf;

/* One event's counts, over all CPUs. */
struct bpf_events_sums {
	uint64_t happened;       /* by perf's counter; otherwise the program's runs and missed runs */
	uint64_t n[EVENT_COUNTS]; /* read after happened, never before */
};

/* options must outlive the object. NULL: error is a sentence. */
struct bpf_events *bpf_events_open(const struct options *o, const struct cpu_list *online, const struct sample_bpf *sample,
			     bool by_tables, struct buf *error);
/* Lets the events' samples have frames of interpreted languages. */
struct bpf_lang;
void bpf_events_languages(const struct bpf_events *c, struct bpf_lang *l);
/* Returns the cost of a hit of the event's probe, as measured when it was loaded; zeros for other events. */
struct uprobe_cost bpf_events_cost(const struct bpf_events *c, size_t event);
void bpf_events_close(struct bpf_events *c); /* NULL is fine */
/* Starts counting on those of the given CPUs that are to be sampled. False: error is a sentence. */
bool bpf_events_begin(struct bpf_events *c, const struct cpu_list *cpus, struct buf *error);
/* Returns true if each event that should be counted on the CPU is counted there. */
bool bpf_events_has_cpu(const struct bpf_events *c, unsigned int cpu);
bool bpf_events_add_cpu(struct bpf_events *c, unsigned int cpu); /* false: errno */
void bpf_events_drop_cpu(struct bpf_events *c, unsigned int cpu);
/* Samples come at another rate from now on. */
void bpf_events_rate(struct bpf_events *c, const struct engine_rate *to);
void bpf_events_stop(struct bpf_events *c);
/* Returns true if the kernel skips the clock's program on a CPU while one of these programs runs there. */
bool bpf_events_keeps_out(const struct bpf_events *c);
/* Returns the descriptor of the ring buffer; each record is a struct sample_head with its addresses. */
int bpf_events_ring(const struct bpf_events *c);
/* Reads the counts of the event with this index in the options. */
void bpf_events_sums(struct bpf_events *c, size_t event, struct bpf_events_sums *sums);

#endif
