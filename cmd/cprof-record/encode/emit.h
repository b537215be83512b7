/*
 * Writes the stream: definitions before their first use, samples, the ledger.
 *
 * The stream has only processes that were sampled, with the mappings they have at that point; from then on
 * each change is written as it comes. A new segment begins after SEGMENT_SECONDS or SEGMENT_BYTES and refers
 * to nothing before it. Repeated JIT data does not count towards SEGMENT_BYTES, and raises the limit by its
 * size: otherwise perf maps of more than SEGMENT_BYTES would end each segment at once.
 */
#ifndef CPROF_RECORD_ENCODE_EMIT_H
#define CPROF_RECORD_ENCODE_EMIT_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/encode/user_names.h"
#include "cmd/cprof-record/host/cgroup.h"
#include "cmd/cprof-record/source/engine.h"
#include "cmd/cprof-record/process/jit_dumps.h"
#include "cmd/cprof-record/process/perf_maps.h"
#include "cmd/cprof-record/host/ksym.h"
#include "cmd/cprof-record/output/output.h"
#include "cmd/cprof-record/encode/outsiders.h"
#include "cmd/cprof-record/encode/probe_labels.h"
#include "cmd/cprof-record/encode/wait_sites.h"
#include "cmd/cprof-record/encode/wakers.h"
#include "cmd/cprof-record/unwind/jit_tables.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/select/ends.h"
#include "common/stream/writer.h"

enum {
	SEGMENT_SECONDS = 300,
	SEGMENT_BYTES = 32 << 20,
	SEGMENT_NODES = 1 << 21, /* bounds the tree's memory, here and in readers, to some 100 MB */
};

/* Event ids in the stream: waits follow the order of enum wait_reason, other events that of the options. */
enum { EVENT_TICK = 1, EVENT_WAITS = 2, EVENT_OTHERS = EVENT_WAITS + WAIT_REASONS };

/* The place that holds the name of an address. */
enum frame_origin {
	FRAME_IN_KERNEL,
	FRAME_IN_KERNEL_UNNAMED, /* it has no symbol, or symbols are hidden */
	FRAME_IN_FILE,
	FRAME_IN_MEMORY,  /* memory without a file: a perf map or a jitdump file, if there is one */
	FRAME_NOWHERE,    /* no mapping is known there */
	FRAME_ORIGINS,
};

struct emit {
	const struct output *output; /* owns the writer */
	struct writer *w;
	const struct options *options;
	struct engine *engine;
	struct procs *procs;
	struct user_walk *user_walk; /* NULL: stacks are not walked by tables */
	struct jit_tables *jit; /* tables of generated code; NULL: likewise */
	struct runtimes *runtimes; /* NULL: no frames of interpreted languages */
	struct ksym *ksym;
	struct cgroups *cgroups;
	struct jit_budget jit_budget;
	struct perf_maps *perf_maps;
	struct jit_dumps *jit_dumps;
	struct stacks stacks;
	uint32_t said_frames, said_nodes;
	bool dont_wait; /* the next record does not wait for tables or build IDs */
	bool said_vdso;
	uint32_t segment;
	uint64_t next_process, next_thread, next_file, next_script, next_function;
	struct idmap said_cgroups; /* cgroup id to 0, by segment */
	struct idmap said_users;   /* likewise, uid + 1 to 0 */
	struct user_names users;
	struct probe_labels labels;
	struct intern said_ksyms;  /* address and name of the kernel symbols written in this segment */
	uint64_t segment_began;
	uint64_t epoch;  /* CLOCK_REALTIME less CLOCK_MONOTONIC in the segment's header, ns */
	uint64_t period; /* nominal period of a tick in this segment */
	uint64_t samples, segment_samples, processes; /* written; samples: only ticks; processes: images */
	uint64_t waits; /* stretches of waiting time that were written */
	uint64_t waits_since; /* start of the earliest wait that the next segment may contain; 0: not known */
	uint64_t others[EVENTS_MAX]; /* samples of other events ... */
	uint64_t kept[EVENTS_MAX];   /* ... and those of them that found room in the output */
	struct wait_sites *wait_sites;
	struct wakers wakers;
	struct intern said_locks; /* in this segment: process, kind, address; id: number plus 1 */
	struct outsiders outsiders;
	uint64_t origins[FRAME_ORIGINS]; /* distinct addresses, summed over segments */
	uint64_t roots[ENDS]; /* user halves of samples, by how they ended */
	const char *command_line;
};

bool emit_init(struct emit *e); /* false: out of memory */
void emit_release(struct emit *e);
/* Begins a segment; the caller has ended the previous one. */
void emit_segment(struct emit *e, uint64_t now);
/* By time, by size, or because the wall clock was set. */
bool emit_segment_due(const struct emit *e, uint64_t now);
void emit_end(struct emit *e, uint64_t now, enum end_reason reason);
/* Returns true if a change that procs has applied maps a file whose build ID is still awaited. */
bool emit_awaits(const struct emit *e, const struct change_effect *effect);
/* Writes such a change. */
void emit_change(struct emit *e, const struct change *c, const struct change_effect *effect);
enum emitted {
	EMIT_WRITTEN,
	EMIT_NO_MEMORY, /* the sample is lost and counted as OUTCOME_NO_MEMORY */
	EMIT_WAITS,     /* nothing written, try again: an unwind table or a build ID is still missing */
};

enum emitted emit_sample(struct emit *e, const struct sample_head *s);
/* Writes new data of the processes' perf maps, up to a limit per call; now UINT64_MAX: all of it. */
void emit_jit(struct emit *e, uint64_t now);
/*
 * Reads new records of the processes' jitdump files into the queue: they have times of their own, and each
 * piece of code must be written before the samples of its time. all: without a limit.
 */
void emit_dumps(struct emit *e, struct queue *q, bool all);
/* Writes a piece of code that emit_dumps has put into the queue. */
void emit_code(struct emit *e, const struct item *i, const void *bytes);
/* Writes the rest of the process's JIT data; procs is about to forget the process. */
void emit_gone(struct emit *e, struct proc *p);
/* Cumulative counts: for the clock by CPU, for another event by its index in the options, and of cost. */
void emit_ledger(struct emit *e, uint64_t now, uint64_t cpu, enum outcome outcome, uint64_t count);
void emit_tally(struct emit *e, uint64_t now, size_t event, enum outcome outcome, uint64_t count);
void emit_cost(struct emit *e, uint64_t now, enum cost what, uint64_t count);

#endif
