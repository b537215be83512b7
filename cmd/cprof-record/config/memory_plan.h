/*
 * Plans the sizes of everything that a recording allocates per CPU, from one budget: the option --mem.
 *
 *	struct memory m;
 *
 *	if (memory_plan(&ask, &m) == MEMORY_NONE)
 *		...m.least would be enough...
 *
 * The recorder's own memory and fixed maps come first, then explicit sizes from the options, then the minimum
 * for unwind tables. The CPUs share the rest: sample rings as large as the rate needs, and side-band rings.
 * Unwind tables get the remainder. A plan makes no system calls; it depends only on struct memory_ask. Sizes
 * are bytes.
 */
#ifndef CPROF_RECORD_CONFIG_MEMORY_PLAN_H
#define CPROF_RECORD_CONFIG_MEMORY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_fit {
	MEMORY_ENOUGH,
	MEMORY_LITTLE, /* it works, but at this rate samples may be lost */
	MEMORY_NONE,   /* the budget is too small */
};

struct memory_ask {
	bool perf;              /* plain perf, not BPF */
	size_t online, sampled; /* CPUs */
	unsigned int hertz;     /* 0: no ticks */
	bool by_tables, off_cpu;
	size_t n_events;
	bool calls; /* stacks of call probes */
	/* From the options; 0: not given. */
	uint64_t mem, unwind_mem, kept; /* kept: for --ring */
};

struct memory {
	uint32_t percpu_ring; /* a power of two */
	uint32_t stack;       /* the longest user stack copied with a sample; less than half of percpu_ring */
	uint32_t sideband;    /* a per-CPU side-band ring; with plain perf, the CPU's only ring */
	uint32_t off_cpu_ring, event_ring; /* shared by all CPUs; 0: not requested */
	uint64_t unwind_mem;
	uint64_t total;    /* with unwind tables at their maximum */
	uint64_t budget;   /* from --mem; without it, 128M, or more if the CPUs need that at this rate */
	uint64_t least;    /* a smaller budget is MEMORY_NONE */
	uint64_t enough;   /* a smaller budget is MEMORY_LITTLE */
};

enum {
	MEMORY_PERCPU_MOST = 2 << 20,
	MEMORY_SCRATCH = 46 << 10, /* a program's memory on a CPU: sizeof(struct scratch) without its data */
	MEMORY_ADDRESSES = 20 << 10, /* a sample's head and longest stacks; also the room past a ring's end */
	MEMORY_OFF_CPU_STACK = 32 << 10, /* as memory.stack, for waits */
	MEMORY_EVENT_STACK = 8 << 10,    /* as memory.stack, for other events */
};

/* Fills m, also if the budget is too small. */
enum memory_fit memory_plan(const struct memory_ask *ask, struct memory *m);

#endif
