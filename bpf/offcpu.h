/*
 * What offcpu.bpf.c hands to user space: where threads wait, and how long.
 *
 * A place where a thread waits has a key. SAMPLE_STACK is a sample_head with the stack of that place, its key as the
 * weight; SAMPLE_WAIT a struct wait, time that was spent there. A place's stack comes before its first wait; and
 * waits that are short come many in one. SAMPLE_RAN is a struct ran: how long the thread ran.
 */
#ifndef CPROF_BPF_OFFCPU_H
#define CPROF_BPF_OFFCPU_H

#include "bpf/sample.h"

enum wait_reason {
	WAIT_SLEEP,           /* it can be interrupted: locks, pipes, sockets, timers; also stopped */
	WAIT_UNINTERRUPTIBLE, /* disks, page faults, locks of the kernel */
	WAIT_CPU,             /* it could run */
	WAIT_REASONS,
};

struct wait {
	struct sample_head head; /* the weight is the key; time is when the last of it ended */
	unsigned long long ns[WAIT_REASONS];
	unsigned long long gone; /* nothing more comes of this key, unless with a new stack */
};

struct ran {
	struct sample_head head;  /* the weight is the time it ran, of CLOCK_MONOTONIC */
	unsigned long long since; /* then that was told last, or the thread was first seen */
};

enum {
	WAIT_SITES = 16, /* places a thread is known to wait at; a power of two */
	WAIT_STACK = 16 << 10, /* bytes of the stack of a thread that was asleep before we came */
};

/* What the iterator is run for. Each item it writes is its size, four bytes, and the item. */
enum look { LOOK_BEGIN, LOOK_SETTLE, LOOK_END };

enum wait_count {
	WAIT_COUNT_LOST, /* waits, one or many in one: the ring was full */
	WAIT_COUNT_NS,   /* time in the programs */
	WAIT_COUNT_RUNS,
	WAIT_COUNTS,
};

/* Per CPU. */
struct wait_counts {
	unsigned long long n[WAIT_COUNTS];
	unsigned long long off; /* who leaves this CPU to wait is not asked for; only looked at with some_cpus */
};

#endif
