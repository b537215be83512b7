/*
 * The two ways to sample: by a BPF program (engine_bpf.c), or by perf's own records if BPF is refused
 * (engine_perf.c). Both fill a queue with side-band records and with samples as struct sample_head.
 *
 *	e = bpf_engine_open(options, &online, &idle, &error);	// the side-band is on: read /proc now
 *	e->ops->sample(e, &error);				// sampling starts
 *	...e->ops->drain(e, &queue)...
 *	e->ops->close(e);
 */
#ifndef CPROF_RECORD_SOURCE_ENGINE_H
#define CPROF_RECORD_SOURCE_ENGINE_H

#include "bpf/offcpu.h"
#include "cmd/cprof-record/programs/bpf_calls.h"
#include "cmd/cprof-record/programs/bpf_events.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/rings/queue.h"
#include "common/stream/record.h"
#include "common/walk/store.h"

struct engine;

/* The engine's own counts, for one CPU or for all (engine_perf.c, when it samples single tasks). Cumulative. */
struct engine_counts {
	/* EXPECTED is set only if the engine has a better figure than CPU time / period. */
	uint64_t outcomes[OUTCOMES];
	/* Ticks that did not reach the program: counted as IDLE if the CPU was idle, otherwise as NESTED. */
	uint64_t kept_out;
	uint64_t run_ns, runs; /* the BPF program's */
	bool expects; /* outcomes has EXPECTED */
};

/* Reports that a CPU's period has changed, at a moment between before and after. */
typedef void engine_epoch_fn(void *arg, unsigned int cpu, uint64_t before, uint64_t after);

struct engine_ops {
	const char *name;
	/* Starts sampling. False: error is a sentence. A CPU that went offline meanwhile is left out. */
	bool (*sample)(struct engine *e, struct buf *error);
	/* Adds a CPU that came online after the start, or was left out. False: errno; nothing is attached. */
	bool (*add_cpu)(struct engine *e, unsigned int cpu);
	/* Returns true if everything that the engine needs on the CPU is attached. */
	bool (*has_cpu)(struct engine *e, unsigned int cpu);
	/* Returns the time from which the CPU's ticks are recorded. NULL: since the engine was opened. */
	uint64_t (*began)(struct engine *e, unsigned int cpu);
	void (*drop_cpu)(struct engine *e, unsigned int cpu);
	void (*drain)(struct engine *e, struct queue *q);
	/* Adds the descriptors that become readable when much data is pending. */
	void (*watch)(struct engine *e, int epoll);
	/* Reads the counts of one CPU. */
	void (*counts)(struct engine *e, unsigned int cpu, struct engine_counts *c);
	/*
	 * Loads the walk by tables into the kernel. Until then the engine leaves all walks to user space.
	 * False: it does so for good, and error is a sentence.
	 */
	bool (*walk)(struct engine *e, struct buf *error);
	/*
	 * Publishes a process's mappings to the walk by tables; space NULL: it has none. False: there is no
	 * room. NULL if the engine leaves all walks to user space.
	 */
	bool (*publish)(struct engine *e, uint32_t pid, const struct unwind_space *space);
	/*
	 * Publishes the number of a file to that walk, for the mappings of processes that are not published.
	 * NULL if the engine does not look these up.
	 */
	void (*publish_file)(struct engine *e, const struct unwind_file_id *id,
			     const struct unwind_file_known *known);
	/* Follows a fork that the side-band reported: the child is sampled if its parent is. */
	void (*follow)(struct engine *e, uint32_t parent, uint32_t child);
	/* Samples the new group at this index of the options. False: errno; it is not sampled. */
	bool (*regroup)(struct engine *e, size_t place);
	/* Forgets a process that is gone: another one may get its pid. */
	void (*forget)(struct engine *e, uint32_t pid);
	/*
	 * rests: the reader is about to sleep, so wake it for samples that must be finished in user space.
	 * NULL if the engine wakes nobody for them.
	 */
	void (*rest)(struct engine *e, bool rests);
	/* Applies the engine's rate, which the caller has changed. NULL if the rate is fixed. */
	void (*rate)(struct engine *e);
	/* Returns the period of a CPU's ticks, in ns. NULL: engine_period. */
	uint64_t (*period)(struct engine *e, unsigned int cpu);
	/* Changes the periods that are due (dither.h); changed gets each change. NULL: periods are fixed. */
	void (*dither)(struct engine *e, uint64_t now, engine_epoch_fn *changed, void *arg);
	/* Waiting time; these are NULL if the engine does not record it: */
	void (*waits)(struct engine *e, struct wait_counts *c);
	/* Reports all current waits to the next drain. Returns false if only some were reported. */
	bool (*report_waits)(struct engine *e);
	/* Publishes the class of all interrupts of this fingerprint (bpf/offcpu.h). */
	void (*know_interrupt)(struct engine *e, uint64_t fingerprint, enum woken_by by);
	void (*restart)(struct engine *e); /* the stacks of all wait sites are sent again */
	/* Reads the counts of call probes. NULL: there are none. */
	void (*calls)(struct engine *e, struct bpf_calls_counts *c);
	/* Reads the counts of an event, by its index in the options. NULL: no other events. */
	void (*sums)(struct engine *e, size_t event, struct bpf_events_sums *sums);
	void (*stop)(struct engine *e); /* no more samples; pending ones can still be drained and counted */
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	const struct options *options;
	struct engine_rate rate; /* the options' at first; see the operation rate */
	bool by_cpu;           /* counts are per CPU */
	bool accounts_program; /* run_ns is measured */
	bool by_tables;        /* user stacks are unwound by tables, without the kernel's limit of chains */
	bool walks;            /* the walk by tables is in the kernel */
	uint64_t late_ns;      /* CPU time of loading programs after the start */
	bool exact_waits;      /* see offcpu_exact */
	bool throttled_waits;  /* see offcpu_throttled */
	struct store *store;   /* the unwind tables; owned by the engine */
	struct bpf_lang *lang; /* frames of interpreted languages; owned by the engine. NULL: it has none */
	uint64_t sideband_lost;
	uint64_t ended; /* time at which stop ended the ticks */
	uint64_t interpreter; /* when an unknown interpreter was last executed; 0: never */
};

/* The options must outlive the engine. NULL: error is a sentence. */
struct engine *bpf_engine_open(const struct options *o, const struct cpu_list *online,
			       const struct idle_ranges *idle, struct buf *error);
struct engine *perf_engine_open(const struct options *o, const struct cpu_list *online,
				const struct idle_ranges *idle, struct buf *error);

/* The attributes of the clock's events: its type and period. */
struct perf_event_attr;
void engine_attr(struct perf_event_attr *attr, const struct engine *e);
/* Returns the nominal period in ns; 0: it varies, or there are no ticks. */
uint64_t engine_period(const struct engine *e);
/* Returns the CPU's current period, which is near the nominal one. */
uint64_t engine_cpu_period(struct engine *e, unsigned int cpu);

#endif
