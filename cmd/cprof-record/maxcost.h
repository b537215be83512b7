/*
 * Keeping a promise of what recording costs at most: the rate goes down when it costs more, and up again later.
 *
 *	struct maxcost m = { .share = 0.005, .asked = 99 };
 *
 *	...once a second:
 *	hertz = maxcost_rate(&m, now, cpu_ns, cpus, hertz);
 *
 * What counts is the CPU time of the recorder, of those who make tables and of the BPF program, as the ledger has
 * it, over the CPUs that are online; averaged over some MAXCOST_SECONDS, for a burst of new processes is paid
 * back soon. After a change the average begins anew. Where it is more than twice the promise, two seconds are enough.
 */
#ifndef CPROF_RECORD_MAXCOST_H
#define CPROF_RECORD_MAXCOST_H

#include <stddef.h>
#include <stdint.h>

enum { MAXCOST_SECONDS = 10 };

struct maxcost {
	double share;       /* of a CPU per CPU; 0: no promise */
	unsigned int asked; /* samples a second: never more than that */
	double now;         /* what it costs, averaged */
	double seen;        /* seconds at the present rate that the average is of */
	uint64_t looked, cpu_ns; /* when, and what it had cost by then; 0: never */
};

/* The rate from now on, which may be the one that is. cpu_ns: all that was spent since the beginning. */
unsigned int maxcost_rate(struct maxcost *m, uint64_t now, uint64_t cpu_ns, size_t cpus, unsigned int hertz);

#endif
