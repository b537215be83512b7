/*
 * Waiting time, by the programs of bpf/offcpu.bpf.c: beside the sampling object, whose unwind tables and filters they
 * use, with a ring of their own.
 *
 *	o = offcpu_open(options, &online, sample, by_tables, &error);
 *	offcpu_begin(o, &error);	// what waits by now waits from now on
 *	...offcpu_settle(o); offcpu_drain(o, &queue)...
 *	offcpu_stop(o);			// what still waits is told
 *	offcpu_drain(o, &queue);
 *	offcpu_close(o);
 */
#ifndef CPROF_RECORD_OFFCPU_H
#define CPROF_RECORD_OFFCPU_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/options.h"
#include "cmd/cprof-record/queue.h"

struct offcpu;
struct sample_bpf;

/* NULL: error is a sentence. */
struct offcpu *offcpu_open(const struct options *o, const struct cpu_list *online, const struct sample_bpf *sample,
			   bool by_tables, struct buf *error);
void offcpu_close(struct offcpu *o); /* NULL is fine */
bool offcpu_begin(struct offcpu *o, struct buf *error);
bool offcpu_add_cpu(struct offcpu *o, unsigned int cpu); /* one that came online; false: errno */
/* Are stacks taken when a wait is over and known to be long, and not where it is expected to be? */
bool offcpu_exact(const struct offcpu *o);
/* Waits that go on are told up to now; false: not all of them. */
bool offcpu_settle(struct offcpu *o);
/* The group at this place of the options' is this one now. */
void offcpu_regroup(struct offcpu *o, size_t place, uint64_t id);
void offcpu_stop(struct offcpu *o);
/* Its ring: of struct sample_head and what follows, one of whose kinds is struct wait. */
int offcpu_ring(const struct offcpu *o);
/* What did not come by the ring. */
void offcpu_drain(struct offcpu *o, struct queue *q);
/* All stacks are sent again. */
void offcpu_restart(struct offcpu *o);
void offcpu_counts(const struct offcpu *o, struct wait_counts *c);

#endif
