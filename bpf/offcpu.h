/*
 * Records that offcpu.bpf.c passes to user space: where threads wait, and for how long.
 *
 * A wait site has a key. SAMPLE_STACK is a sample_head with the stack of a site, and its key as the weight;
 * SAMPLE_WAIT is a struct wait, the time spent at a site. The stack of a site comes before its first wait,
 * and one record may sum up many short waits. SAMPLE_RAN is a struct ran: how long the thread ran.
 * SAMPLE_WAKER is a struct waker: what ended a wait of at least min_ns. It comes before the end of that wait,
 * whose `woken` is its time.
 */
#ifndef CPROF_BPF_OFFCPU_H
#define CPROF_BPF_OFFCPU_H

#include "bpf/sample.h"

/* In the order in which they come in a wait. */
enum wait_reason {
	WAIT_SLEEP,           /* interruptible: locks, pipes, sockets, timers; also stopped */
	WAIT_UNINTERRUPTIBLE, /* disks, page faults, locks of the kernel */
	WAIT_THROTTLED,       /* runnable, but the quota of a control group was used up */
	WAIT_CPU,             /* runnable, but without a CPU */
	WAIT_REASONS,
};

struct wait_times {
	unsigned long long ns[WAIT_REASONS];
	/* The last wait, with its parts reported before, if it lasted min_ns or longer; otherwise 0. */
	unsigned long long slept, queued; /* until it was woken, and after that until on */
	unsigned long long throttled; /* part of queued */
	unsigned long long on;    /* when it ran again */
	unsigned long long woken; /* the time of the struct waker that ended it; 0: there is none */
};

struct wait {
	struct sample_head head; /* weight: the key; time: the end of the last wait */
	unsigned long long gone; /* nonzero: nothing more comes for this key, except after a new stack */
	struct wait_times times;
};

/*
 * A call of futex(2) that waits, as the wait begins. In a mutex of glibc, words[0] is the lock and words[2]
 * its owner; other futexes have only words[0].
 */
struct futex {
	unsigned long long address; /* 0: the thread does not wait for a futex */
	unsigned int op;            /* with its flags */
	unsigned int words[5];      /* 0, if they cannot be read */
};

/*
 * A thread is woken by the current thread, or by an interrupt that hit it. The program knows which (`known`) if
 * no interrupt is served, or if user space has stored the class of an interrupt of this fingerprint. Otherwise
 * the stack shows it.
 */
struct waker {
	struct sample_head head; /* pid, tid: the woken thread; weight: pid << 32 | tid of the current one */
	struct futex futex;      /* that it waited for */
	unsigned long long site; /* the key of the current thread's stack, a SAMPLE_STACK; 0: there is none */
	unsigned long long fingerprint; /* an interrupt's, by the frames on its stack; 0: there is none */
	unsigned int whole; /* it is that of all frames */
	unsigned int known; /* KNOWN_TASK, or an enum woken_by plus KNOWN_BY; 0: the stack tells */
	unsigned long long stack[64]; /* head.kernel_n, fewer than 64, return addresses in the kernel, leaf first */
};

enum waker_known { KNOWN_TASK = 1, KNOWN_BY = 2 };

/* The value of head.event of a SAMPLE_STACK. */
enum stack_of { STACK_OF_WAIT, STACK_OF_RETURN, STACK_OF_WAKER };

struct ran {
	struct sample_head head;  /* weight: the time it ran, ns of CLOCK_MONOTONIC */
	unsigned long long since; /* when that was last reported, or the thread first seen */
};

enum {
	WAKER_STACK = 63 * 8, /* bytes; a power of two less one address */
	INTERRUPTS_KNOWN = 4096, /* fingerprints of interrupts whose class is stored, at most */
	WAKE_SITES = 8,  /* call sites from which a thread woke others, remembered; a power of two */
	WAIT_SITES = 16, /* wait sites that a thread remembers; a power of two */
	WAIT_STACK = 16 << 10, /* bytes of the stack of a thread that slept before recording began */
};

/* The purpose of a run of the iterator. It writes each item as its size, four bytes, and the item. */
enum look { LOOK_BEGIN, LOOK_REPORT, LOOK_END };

enum wait_count {
	WAIT_COUNT_LOST, /* records lost to a full ring, each of one wait or many */
	WAIT_COUNT_NS,   /* ns in the programs */
	WAIT_COUNT_RUNS,
	WAIT_COUNTS,
};

/* Per CPU. */
struct wait_counts {
	unsigned long long n[WAIT_COUNTS];
	unsigned long long off; /* waits that begin on this CPU are left out; read with some_cpus only */
};

#endif
