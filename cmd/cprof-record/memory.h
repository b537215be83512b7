/*
 * Sizes of all that a recording allocates for each CPU, out of one budget: the option --mem.
 *
 *	struct memory m;
 *
 *	if (memory_plan(&ask, &m) == MEMORY_NONE)
 *		...m.least would do...
 *
 * The recorder's own memory and fixed maps come first, then what was asked for explicitly, then the least room for unwind
 * tables. The rest is divided among the CPUs: rings of samples as the rate needs them, rings of the side-band. What is left
 * is for unwind tables. No system calls: a plan depends on nothing but the question.
 */
#ifndef CPROF_RECORD_MEMORY_H
#define CPROF_RECORD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_fit {
	MEMORY_ENOUGH,
	MEMORY_LITTLE, /* it works, but at this rate samples may be lost */
	MEMORY_NONE,   /* the budget is too small */
};

struct memory_ask {
	bool perf;              /* by plain perf, and not by BPF */
	size_t online, sampled; /* CPUs */
	unsigned int hertz;     /* 0: no ticks */
	bool by_tables, off_cpu;
	size_t n_events;
	/* Bytes from the options; 0: not given. */
	uint64_t mem, unwind_mem, kept; /* kept: for --ring */
};

struct memory {
	uint32_t lane;     /* bytes of a CPU's ring of samples, a power of two */
	uint32_t stack;    /* bytes of a user stack that goes along with a sample, at most; less than half a lane */
	uint32_t sideband; /* bytes of a CPU's side-band ring; by plain perf, of its only ring */
	uint32_t off_cpu_ring, event_ring; /* of all CPUs; 0: not asked for */
	uint64_t unwind_mem;
	uint64_t total;    /* with unwind tables that take all that they may */
	uint64_t budget;   /* the option's; if it was not given, 128M or what the CPUs need at this rate */
	uint64_t least;    /* a smaller budget is MEMORY_NONE */
	uint64_t enough;   /* a smaller budget is MEMORY_LITTLE */
};

enum {
	MEMORY_LANE_LEAST = 64 << 10,
	MEMORY_LANE_MOST = 2 << 20,
	MEMORY_SCRATCH = 46 << 10, /* of a CPU, what a program works in; sizeof(struct scratch) without its data */
	MEMORY_ADDRESSES = 20 << 10, /* bytes of a sample's longest stacks and its head, in a scratch or after a lane's end */
	MEMORY_OFF_CPU_STACK = 32 << 10, /* as memory.stack, for waits */
	MEMORY_EVENT_STACK = 8 << 10,    /* and for other events */
};

enum memory_fit memory_plan(const struct memory_ask *ask, struct memory *m);

#endif
