/*
 * The two ways to sample: by a BPF program (bpf.c), or by perf's own records where BPF is refused
 * (perf.c). Both fill a queue with side-band records and with samples as struct sample_head.
 *
 *	e = bpf_engine_open(options, &online, &idle, &error);	// the side-band is on: now read /proc
 *	e->ops->sample(e, &error);				// now sample
 *	...e->ops->drain(e, &queue)...
 *	e->ops->close(e);
 */
#ifndef CPROF_RECORD_ENGINE_H
#define CPROF_RECORD_ENGINE_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/counted.h"
#include "cmd/cprof-record/options.h"
#include "cmd/cprof-record/queue.h"
#include "common/stream/record.h"
#include "common/unwind/store.h"

struct engine;

/* What the engine counts itself, of one CPU or of all (perf.c, when it samples single tasks). */
struct engine_counts {
	uint64_t outcomes[OUTCOMES]; /* EXPECTED only where the engine knows better than CPU time / period */
	uint64_t kept_out; /* ticks that are NESTED, or IDLE where the CPU slept */
	uint64_t run_ns, runs;
	bool expects;
};

/* A CPU ticks at another period from a moment between before and after on. */
typedef void engine_epoch_fn(void *arg, unsigned int cpu, uint64_t before, uint64_t after);

struct engine_ops {
	const char *name;
	/* False: error is a sentence. A CPU that went offline meanwhile is left out. */
	bool (*sample)(struct engine *e, struct buf *error);
	/* One that came online after the start, or was left out. False: errno, and nothing is left of it. */
	bool (*add_cpu)(struct engine *e, unsigned int cpu);
	/* Is the engine attached to the CPU, with all that it has on one? */
	bool (*has_cpu)(struct engine *e, unsigned int cpu);
	/* Since when the CPU's ticks are told of; NULL: since the engine was opened. */
	uint64_t (*began)(struct engine *e, unsigned int cpu);
	void (*drop_cpu)(struct engine *e, unsigned int cpu);
	void (*drain)(struct engine *e, struct queue *q);
	/* Adds the descriptors that become readable when much waits. */
	void (*watch)(struct engine *e, int epoll);
	/* Those of one CPU. */
	void (*counts)(struct engine *e, unsigned int cpu, struct engine_counts *c);
	/*
	 * The walk by tables is told of a process's mappings, or with NULL that there are none; false: no room.
	 * NULL where the engine leaves all walks to user space.
	 */
	bool (*tell)(struct engine *e, uint32_t pid, const struct unwind_space *space);
	/* A process forked: it is wanted too if its parent was; told by the side-band. */
	void (*follow)(struct engine *e, uint32_t parent, uint32_t child);
	/* At this place of the options' groups is another one now, which is wanted from here on; false: errno, it is not. */
	bool (*regroup)(struct engine *e, size_t place);
	/* A process is gone, and its pid may come again as that of another. */
	void (*forget)(struct engine *e, uint32_t pid);
	/* Who drains will not do so for a while: he is to be woken for a sample of which he may know more. NULL: nobody does. */
	void (*rest)(struct engine *e, bool rests);
	/* Samples come at the rate that the options have now. NULL where it cannot change. */
	void (*rate)(struct engine *e);
	/* The period of a CPU's ticks. NULL: engine_period. */
	uint64_t (*period)(struct engine *e, unsigned int cpu);
	/* Moves the periods whose time has come (dither.h). NULL: they stay. */
	void (*dither)(struct engine *e, uint64_t now, engine_epoch_fn *told, void *arg);
	/* Of waiting time; NULL where the engine knows of none: */
	void (*waits)(struct engine *e, struct wait_counts *c);
	bool (*settle)(struct engine *e);  /* what still waits is told up to now, by the next drain; false: not all */
	void (*restart)(struct engine *e); /* the stacks of all places are sent again */
	/* Of an event of the options; NULL where the engine knows of none. */
	void (*sums)(struct engine *e, size_t event, struct counted_sums *sums);
	void (*stop)(struct engine *e); /* no more samples; what waits can still be drained and counted */
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	const struct options *options;
	bool by_cpu;           /* counts are per CPU */
	bool accounts_program; /* run_ns means something */
	bool by_tables;        /* user stacks are unwound by tables: the kernel's limit of chains is none of theirs */
	bool exact_waits;      /* see offcpu_exact */
	struct store *store;   /* of tables; the engine's memory. It goes with the engine */
	uint64_t sideband_lost;
	uint64_t ended; /* the ticks, by stop */
};

/* Where the idle loop waits: two ranges of kernel addresses, 0 unknown. */
struct idle_ranges {
	unsigned long start[2], end[2];
};

/* NULL: error is a sentence. */
struct engine *bpf_engine_open(const struct options *o, const struct cpu_list *online,
			       const struct idle_ranges *idle, struct buf *error);
struct engine *perf_engine_open(const struct options *o, const struct cpu_list *online,
				const struct idle_ranges *idle, struct buf *error);

/* Attributes that all events of a recording share: the clock of the times, and the period. */
struct perf_event_attr;
void engine_attr(struct perf_event_attr *attr, const struct options *o);
/* 0: it changes, or there are no ticks. */
uint64_t engine_period(const struct options *o);
/* The CPU's at present, which is near that. */
uint64_t engine_cpu_period(struct engine *e, unsigned int cpu);

#endif
