/*
 * What the recorder writes: definitions before their first use, samples, the ledger.
 *
 * Only processes that were sampled stand in the stream, with the mappings they have at that point;
 * from then on each change is written as it comes. A new segment begins after SEGMENT_SECONDS or
 * SEGMENT_BYTES and knows nothing of the one before. What it must repeat does not count, and allows for
 * as much again: perf maps of more than SEGMENT_BYTES would end each segment at once.
 */
#ifndef CPROF_RECORD_EMIT_H
#define CPROF_RECORD_EMIT_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/cgroup.h"
#include "cmd/cprof-record/engine.h"
#include "cmd/cprof-record/jitdump.h"
#include "cmd/cprof-record/jitmap.h"
#include "cmd/cprof-record/ksym.h"
#include "cmd/cprof-record/output.h"
#include "cmd/cprof-record/procs.h"
#include "cmd/cprof-record/spaces.h"
#include "cmd/cprof-record/tree.h"
#include "common/profile/ends.h"
#include "common/stream/writer.h"

enum {
	SEGMENT_SECONDS = 300,
	SEGMENT_BYTES = 32 << 20,
	SEGMENT_NODES = 1 << 21, /* of the tree: bounds its memory, here and in readers, to some 100 MB */
};

/* Their ids in the stream; those of waits are in order of their reasons, enum wait_reason, of others as in the options. */
enum { EVENT_TICK = 1, EVENT_WAITS = 2, EVENT_OTHERS = EVENT_WAITS + WAIT_REASONS };

enum { EMIT_KNOWN = 256, EMIT_CALLERS = 1024, CALLERS_MOST = 61 };

/* Callers of a leaf, and what is their node in the tree. */
struct callers {
	uint64_t process;
	uint32_t node, n; /* node 0: nothing */
	enum root root;
	uint64_t addresses[CALLERS_MOST];
};

struct places;

/* Where the name of an address is to be found. */
enum origin {
	ORIGIN_KERNEL,
	ORIGIN_KERNEL_UNNAMED, /* it has no symbol, or they are hidden */
	ORIGIN_FILE,
	ORIGIN_MEMORY,  /* no file stands behind it: in a perf map or a jitdump file, if there is one */
	ORIGIN_NOWHERE, /* nothing was mapped there as far as is known */
	ORIGINS,
};

struct emit {
	const struct output *output; /* whose writer this is */
	struct writer *w;
	const struct options *options;
	struct engine *engine;
	struct procs *procs;
	struct spaces *spaces; /* NULL: stacks are not walked by tables */
	struct ksym *ksym;
	struct cgroups *cgroups;
	struct jitbudget jitbudget;
	struct jitmaps *jitmaps;
	struct jitdumps *jitdumps;
	struct tree tree;
	struct callers *callers; /* EMIT_CALLERS, by a hash */
	uint32_t said_frames, said_nodes;
	bool hurry; /* nothing waits any more */
	bool said_vdso;
	bool sideband_lost; /* since then mappings may be missing */
	uint32_t segment;
	uint64_t next_process, next_thread, next_file;
	struct idmap said_cgroups; /* cgroup id to 0, by segment */
	struct intern said_ksyms;  /* address and name of the kernel symbols written in this segment */
	uint64_t segment_began;
	uint64_t samples, segment_samples, processes; /* written; samples are ticks alone; processes counts images */
	uint64_t waits; /* stretches of waiting time that were told */
	uint64_t waits_since; /* when the first of those began that the next segment may tell of; 0: not known */
	uint64_t others[EVENTS_MAX]; /* samples of other events; ... */
	uint64_t kept[EVENTS_MAX];   /* ... of which there was room for so many */
	struct places *places;
	/* Return addresses in __schedule, in schedule, in what else called __schedule last; in schedule when it returns. */
	uint64_t schedule[4];
	uint64_t trampoline; /* and in what calls schedule where its return is heard of */
	unsigned int schedule_asked; /* so often for the first */
	struct known_caller {
		uint64_t address;
		bool is; /* in what calls the program of a tracepoint */
	} known_callers[EMIT_KNOWN]; /* by the address's hash */
	uint64_t origins[ORIGINS]; /* different addresses of each segment */
	uint64_t roots[ENDS]; /* user halves of samples, by how they ended */
	const char *command_line;
};

bool emit_init(struct emit *e);
void emit_release(struct emit *e);
/* Begins a segment; the one before has been ended. */
void emit_segment(struct emit *e, uint64_t now);
bool emit_segment_due(const struct emit *e, uint64_t now);
void emit_end(struct emit *e, uint64_t now, enum end_reason reason);
/* A change that procs has taken in. Before it a mapping may have to wait for the build ID of its file. */
bool emit_awaits(const struct emit *e, const struct change_effect *effect);
void emit_change(struct emit *e, const struct change *c, const struct change_effect *effect);
enum emitted {
	EMIT_WRITTEN,
	EMIT_NO_MEMORY, /* it counts as such */
	EMIT_WAITS,     /* its stack needs a table that is being made, or a file its build ID: nothing is written, try again */
};

enum emitted emit_sample(struct emit *e, const struct sample_head *s);
/* What is new in the processes' perf maps, up to a limit a step; with UINT64_MAX all of it, as of now. */
void emit_jit(struct emit *e, uint64_t now);
/*
 * Reads what is new in the processes' jitdump files, which have times of their own: into the queue, so that each
 * piece of code is written before the samples of its time. all: without a limit.
 */
void emit_dumps(struct emit *e, struct queue *q, bool all);
/* What emit_dumps has put into the queue. */
void emit_code(struct emit *e, const struct item *i, const void *bytes);
/* The process is about to be forgotten. */
void emit_gone(struct emit *e, struct proc *p);
void emit_ledger(struct emit *e, uint64_t now, uint64_t cpu, enum outcome outcome, uint64_t count);
void emit_tally(struct emit *e, uint64_t now, size_t event, enum outcome outcome, uint64_t count);
void emit_cost(struct emit *e, uint64_t now, enum cost what, uint64_t count);

#endif
