/*
 * What the sampling program hands to user space. Both sides are built together, so a shared struct is
 * right here; nothing of it reaches the disk.
 *
 * A record is a sample_head, kernel_n addresses of the kernel stack and user_n of the user stack, each
 * leaf first; where has_state is set then a sample_state and stack_n bytes of the user stack, from
 * regs[rsp] on.
 */
#ifndef CPROF_BPF_SAMPLE_H
#define CPROF_BPF_SAMPLE_H

#include "common/unwind/rule.h"

enum {
	SAMPLE_DEPTH_MAX = 1023,    /* addresses a half stack can have; the kernel's limit for perf_event_max_stack */
	SAMPLE_GROUPS_MAX = 16,  /* control groups that can be asked for at once */
	SAMPLE_STACK_MAX = 64 << 10, /* bytes of the user stack that go along at most */
};

/* Lanes (lane.h), at most: bytes of one, and what stands behind its end of a sample that began before. */
enum {
	SAMPLE_LANE_MOST = 2 << 20,
	SAMPLE_LANE_BEHIND = SAMPLE_STACK_MAX + (20 << 10),
};

/* user_by: who walked the user stack. Marks of a user address: */
enum sample_by { SAMPLE_BY_FP, SAMPLE_BY_TABLE };
#define SAMPLE_EXACT (1ull << 63) /* the interrupted instruction, or one that a signal interrupted: no return address */

struct sample_head {
	unsigned long long time; /* CLOCK_MONOTONIC, ns */
	unsigned long long cgroup; /* cgroup v2 id; 0: unknown */
	unsigned long long weight; /* 0: the event's period; of a tick of the clock: ns since the CPU's last one, 0: it is the first */
	unsigned int cpu, pid, tid;
	short kernel_n, user_n; /* or a negative errno */
	/* Of stacks walked by tables (user_by): */
	unsigned int generation; /* of the mappings it was walked with; 0: none were known */
	unsigned int stack_n;
	unsigned char user_by, user_end; /* user_end: enum root */
	unsigned char has_state;
	unsigned char deferred; /* the walk is to be gone on with in user space, from the state */
	unsigned char what;     /* enum sample_what */
	unsigned char event;    /* of SAMPLE_EVENT: which; of SAMPLE_STACK: it was taken when the wait was over */
};

/* In a lane: what a sample begins with. */
struct sample_record {
	unsigned long long bytes; /* with this; a multiple of 8 */
	struct sample_head head;
};

/* Of the last but SAMPLE_EVENT, which see event.h for, see offcpu.h. */
enum sample_what { SAMPLE_TICK, SAMPLE_STACK, SAMPLE_WAIT, SAMPLE_EVENT, SAMPLE_RAN };

/* Registers of the frame that has the number at, 0 is the leaf; of others than that only rip, rsp, rbp, rbx. */
struct sample_state {
	unsigned long long regs[UNWIND_REGISTERS]; /* by DWARF number */
	unsigned int at;
	unsigned char exact, inner, bx_known, unchecked;
};

enum sample_count {
	COUNT_EMITTED,
	COUNT_IDLE,
	COUNT_FILTERED,
	COUNT_RING_FULL,
	COUNT_NESTED,
	COUNT_KEPT_OUT, /* nested, unless the CPU slept at that time */
	COUNT_RUN_NS, /* time in the program, by its own clock */
	COUNT_RUNS,
	COUNTS,
};

/* Per CPU, cumulative. */
struct sample_counts {
	unsigned long long n[COUNTS];
	unsigned long long grid, last; /* when a tick stood where it should, and the last one; 0: none came yet */
	unsigned long long period;     /* of that grid */
	unsigned long long kept_out;   /* ticks before the last one that the next will make COUNT_KEPT_OUT, unless it comes at once */
};

/* What user space and the program share of a lane besides the data. */
struct sample_lane {
	struct sample_counts counts;
	unsigned long long tick_ns; /* by user space: the period, where ticks that were kept out are to be looked for; else 0 */
	unsigned long long written; /* by the program: bytes, ever */
	unsigned long long read;    /* by user space; the one between stands in the lane, at these numbers modulo its size */
};

/* How the user's registers are found where the kernel was interrupted. */
enum sample_regs {
	REGS_BY_HELPER, /* bpf_task_pt_regs, 5.15 */
	REGS_BY_STACK,  /* task_struct.stack, whose offset is given */
	REGS_BY_SP,     /* the stack pointer's own stack: not while an interrupt has one of its own */
};

#endif
