/*
 * What the programs of event.bpf.c count, per CPU and event, in events: all of them stand here once.
 *
 * EVENT_PENDING is what no sample stands for yet, and the one that becomes less.
 */
#ifndef CPROF_BPF_EVENT_H
#define CPROF_BPF_EVENT_H

#include "bpf/sample.h"

enum event_count {
	EVENT_EMITTED,
	EVENT_FILTERED,
	EVENT_RING_FULL,
	EVENT_NESTED,
	EVENT_PENDING,
	EVENT_RUNS, /* not events: of the program */
	EVENT_RUN_NS,
	EVENT_COUNTS,
};

/* The one value of a per-CPU array. */
struct event_cpu {
	unsigned long long n[EVENT_COUNTS];
	unsigned long long period; /* events a sample stands for, now; 0: nothing happened yet */
	unsigned long long next;   /* so many pending make the next sample */
	unsigned long long window; /* when it began */
	unsigned int taken;        /* samples in this window; more of them where the period was raised in it */
	unsigned int off;          /* this CPU is not asked for */
};

#endif
