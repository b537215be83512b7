/*
 * The cost limit: lowers the sampling rate when recording costs more than the limit, and raises it later.
 *
 *	struct cost_rate m = { .share = 0.005, .asked = 99 };
 *
 *	...once a second:
 *	hertz = cost_rate_next(&m, now, cpu_ns, cpus, hertz);
 *
 * The cost is the CPU time of the recorder, of the processes that build tables and of the BPF program, as the
 * ledger has it, divided by the number of online CPUs. It is averaged over about COST_RATE_SECONDS, because the
 * cost of a burst of new processes is soon made up for. The average begins again after a change. If it is
 * more than twice the limit, two seconds are enough.
 */
#ifndef CPROF_RECORD_COST_RATE_H
#define CPROF_RECORD_COST_RATE_H

#include <stddef.h>
#include <stdint.h>

enum { COST_RATE_SECONDS = 10 };

struct cost_rate {
	double share;       /* the limit, as a share of a CPU per CPU; 0: none */
	unsigned int asked; /* samples a second, an upper bound */
	double now;         /* averaged cost, in the unit of share */
	double seen;        /* seconds at the current rate that the average covers */
	uint64_t looked, cpu_ns; /* at the last call: the time (0: none yet), and cpu_ns */
};

/*
 * Returns the rate from now on, in samples a second; it may be hertz, the current one. now: CLOCK_MONOTONIC,
 * ns. cpu_ns: CPU time spent since the recording began.
 */
unsigned int cost_rate_next(struct cost_rate *m, uint64_t now, uint64_t cpu_ns, size_t cpus, unsigned int hertz);

#endif
