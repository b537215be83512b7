/*
 * What the sampling program hands to user space. Both sides are built together, so a shared struct is
 * right here; nothing of it reaches the disk.
 */
#ifndef CPROF_BPF_SAMPLE_H
#define CPROF_BPF_SAMPLE_H

enum {
	SAMPLE_DEPTH_MAX = 1023,    /* addresses a half stack can have; the kernel's limit for perf_event_max_stack */
	SAMPLE_WAKE_BYTES = 256 << 10, /* the reader is woken when so much waits in the ring */
};

/* Followed by kernel_n addresses of the kernel stack and user_n of the user stack, each leaf first. */
struct sample_head {
	unsigned long long time; /* CLOCK_MONOTONIC, ns */
	unsigned long long cgroup; /* cgroup v2 id; 0: unknown */
	unsigned long long weight; /* 0: the event's period */
	unsigned int cpu, pid, tid;
	short kernel_n, user_n; /* or a negative errno */
};

enum sample_count {
	COUNT_EMITTED,
	COUNT_IDLE,
	COUNT_FILTERED,
	COUNT_RING_FULL,
	COUNT_NESTED,
	COUNT_RUN_NS, /* time in the program, by its own clock */
	COUNT_RUNS,
	COUNTS,
};

/* Per CPU, cumulative; the one value of a per-CPU array. */
struct sample_counts {
	unsigned long long n[COUNTS];
};

#endif
