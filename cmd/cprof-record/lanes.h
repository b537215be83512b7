/*
 * The lanes that the sampling program writes into (bpf/lane.h), mapped here: its scratch of each sampled CPU, with what
 * it counts and with the samples, which are read where they stand.
 */
#ifndef CPROF_RECORD_LANES_H
#define CPROF_RECORD_LANES_H

#include "bpf/sample.h"
#include "cmd/cprof-record/dither.h"
#include "cmd/cprof-record/options.h"
#include "cmd/cprof-record/queue.h"

struct sample_bpf;

struct lanes {
	const struct sample_bpf *sample; /* loaded */
	struct lane *items; /* by CPU */
	size_t n;           /* possible ones */
	int ready; /* a lane that lanes_configure made, and no CPU has yet; 0: none */
};

/*
 * Gives the lanes the size that the options' memory has for them, before the object is loaded. The kernel wants one to
 * know them by, which will be the first. False: it cannot be created, with errno.
 */
bool lanes_configure(struct lanes *l, struct sample_bpf *s, const struct options *o);
bool lanes_init(struct lanes *l, const struct sample_bpf *s); /* false: no memory */
/* A CPU's lane is made, if it has none: it stays to the end. False: errno. */
bool lanes_add(struct lanes *l, unsigned int cpu);
/* Cumulative; NULL: the CPU has no lane. */
const volatile struct sample_counts *lanes_counts(const struct lanes *l, unsigned int cpu);
/* The program is to look for ticks that are missing between others of this period; 0: it is not. */
void lanes_period(struct lanes *l, unsigned int cpu, uint64_t ns);
/* All that stands in them at the time of the call. d: what a tick weighs; NULL: each tells it. */
void lanes_drain(struct lanes *l, struct dither *d, struct queue *q);
void lanes_release(struct lanes *l);

#endif
