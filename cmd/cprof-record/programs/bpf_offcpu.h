/*
 * Waiting time (off-CPU), measured by the programs of bpf/offcpu.bpf.c. They use the unwind tables and
 * filters of the sampling object, and a ring of their own.
 *
 *	o = offcpu_open(options, &online, sample, by_tables, &error);
 *	offcpu_begin(o, &error);	// threads that already wait count as waiting from now on
 *	...offcpu_report_waits(o); offcpu_drain(o, &queue)...
 *	offcpu_stop(o);			// reports the waits that have not ended
 *	offcpu_drain(o, &queue);
 *	offcpu_close(o);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_OFFCPU_H
#define CPROF_RECORD_PROGRAMS_BPF_OFFCPU_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/rings/queue.h"
#include "common/stream/record.h"

struct offcpu;
struct sample_bpf;

/* Returns NULL on failure; error is then a sentence. sample: the loaded sampling object. */
struct offcpu *offcpu_open(const struct options *o, const struct cpu_list *online, const struct sample_bpf *sample,
			   bool by_tables, struct buf *error);
/* Lets stacks of waits have frames of interpreted languages. */
struct bpf_lang;
void offcpu_languages(const struct offcpu *o, struct bpf_lang *l);
void offcpu_close(struct offcpu *o); /* NULL is fine */
bool offcpu_begin(struct offcpu *o, struct buf *error);
bool offcpu_add_cpu(struct offcpu *o, unsigned int cpu); /* a CPU that came online; false: errno */
/* True: stacks are taken when a wait has ended and was long. False: when it is expected to be long. */
bool offcpu_exact(const struct offcpu *o);
/* True: the time in which a quota throttled a thread is told apart from that in the queue for a CPU. */
bool offcpu_throttled(const struct offcpu *o);
/* Reports the waits that go on, up to now. Returns false if some were not reported. */
bool offcpu_report_waits(struct offcpu *o);
/* Sets the cgroup id of the group at index place of the options' groups. */
void offcpu_regroup(struct offcpu *o, size_t place, uint64_t id);
void offcpu_stop(struct offcpu *o);
/* Returns the ring's descriptor. Its records (bpf/offcpu.h) begin with a struct sample_head. */
int offcpu_ring(const struct offcpu *o);
/* Queues the records that bypass the ring: those of offcpu_begin, offcpu_report_waits and offcpu_stop. */
void offcpu_drain(struct offcpu *o, struct queue *q);
/* Stores the class of all interrupts of this fingerprint: their wakings come without stacks. */
void offcpu_know_interrupt(struct offcpu *o, uint64_t fingerprint, enum woken_by by);
/* Makes the programs send all stacks again. */
void offcpu_restart(struct offcpu *o);
/* Adds up the counters of all CPUs. */
void offcpu_counts(const struct offcpu *o, struct wait_counts *c);

#endif
