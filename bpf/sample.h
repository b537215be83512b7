/*
 * Records that the BPF programs pass to user space. Both sides are built together, so a shared struct is
 * right here; none of it reaches the disk.
 *
 * A record is a sample_head, kernel_n addresses of the kernel stack and user_n of the user stack, each
 * leaf first. If has_state is set, a sample_state and stack_n bytes of the user stack, from regs[rsp] on,
 * follow, padded to a multiple of 8; and then lang_n frames of a language (common/lang/lang.h), leaf first.
 */
#ifndef CPROF_BPF_SAMPLE_H
#define CPROF_BPF_SAMPLE_H

#include "common/walk/space.h"

enum {
	SAMPLE_DEPTH_MAX = 1023,    /* addresses of a half stack: the limit of perf_event_max_stack */
	SAMPLE_GROUPS_MAX = 16,  /* control groups that can be selected at once */
	SAMPLE_STACK_MAX = 64 << 10, /* bytes of the user stack that a sample carries at most */
};

/*
 * Limits of per-CPU rings (percpu.bpf.h):
 * bytes of one, and bytes past its end for a sample that began before.
 */
enum {
	SAMPLE_RING_MOST = 2 << 20,
	SAMPLE_RING_PAST_END = SAMPLE_STACK_MAX + (20 << 10),
};

/* How the user stack was walked. */
enum sample_by { SAMPLE_BY_FP, SAMPLE_BY_TABLE };
/* Set in a user address that is an instruction interrupted by sample or signal, not a return address. */
#define SAMPLE_EXACT (1ull << 63)

struct sample_head {
	unsigned long long time; /* CLOCK_MONOTONIC, ns */
	unsigned long long cgroup; /* cgroup v2 id; 0: unknown */
	unsigned long long weight; /* 0: the period; clock ticks: ns since the CPU's last one, 0: the first */
	unsigned int cpu, pid, tid;
	short kernel_n, user_n; /* or a negative errno */
	/* For stacks walked by tables (user_by): */
	unsigned int generation; /* mappings used for the walk; 0: none were known */
	unsigned int stack_n;
	unsigned char user_by, user_end; /* user_end: enum root */
	unsigned char has_state;
	unsigned char deferred; /* user space must continue the walk from the state */
	unsigned char what;     /* enum sample_what */
	unsigned char event;    /* SAMPLE_EVENT: its index; SAMPLE_STACK: enum stack_of */
	unsigned short lang_n;  /* frames of an interpreted language, 8 bytes each, at the end of the record */
	/* SAMPLE_TICK: threads of the process and of its control group that had a CPU; 0: not counted */
	unsigned short running, group_running;
	unsigned int owner; /* real uid as the host numbers it, plus 1; 0: unknown */
};

/* Begins each sample in a per-CPU ring. */
struct sample_record {
	unsigned long long bytes; /* including this record; a multiple of 8 */
	struct sample_head head;
};

/*
 * SAMPLE_EVENT, SAMPLE_LABEL: see event.h; SAMPLE_STACK, SAMPLE_WAIT, SAMPLE_RAN, SAMPLE_WAKER: see offcpu.h.
 * SAMPLE_OUTSIDE: a tick of a task that is not to be recorded, without stacks; it is counted as COUNT_FILTERED.
 */
enum sample_what {
	SAMPLE_TICK,
	SAMPLE_STACK,
	SAMPLE_WAIT,
	SAMPLE_EVENT,
	SAMPLE_RAN,
	SAMPLE_LABEL,
	SAMPLE_WAKER,
	SAMPLE_OUTSIDE,
};

/* Registers of frame number `at`; 0 is the leaf. For other frames only rip, rsp, rbp and rbx are valid. */
struct sample_state {
	unsigned long long regs[UNWIND_REGISTERS]; /* by DWARF number */
	unsigned int at;
	unsigned char exact, inner, bx_known, unchecked;
	struct unwind_live unknown; /* the mapping that ended the walk, if its file is not known */
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
	unsigned long long grid, last; /* times of a tick on the grid, and of the last tick; 0: none yet */
	unsigned long long period;     /* period of that grid */
	/* Ticks missing before the last one: the next makes them COUNT_KEPT_OUT, unless it comes at once. */
	unsigned long long kept_out;
};

/* The part of a per-CPU ring that user space and the program share besides the data. */
struct percpu_ring {
	struct sample_counts counts;
	unsigned long long tick_ns; /* by user space: the period, to look for kept-out ticks; otherwise 0 */
	unsigned long long written; /* by the program: bytes, ever */
	unsigned long long read;    /* by user space; unread: from here to written, modulo the size */
};

/* In the waker's ring: an interpreter was executed whose processes are not known. Any other word: samples. */
#define WAKE_INTERPRETER (~0ull)

/*
 * Programs that tail calls reach, in the map calls. CALL_LANGUAGE + enum lang_kind: the walk of a language;
 * CALL_FINISH + the event of SAMPLE_EVENT, otherwise 0: the end of a sample. CALL_WALK: the walk by tables of
 * a tick.
 */
enum sample_call {
	CALL_FIND,
	CALL_LANGUAGE,
	CALL_FINISH = CALL_LANGUAGE + 8,
	CALL_WALK = CALL_FINISH + 16,
	CALLS,
};

/* How to find the user registers when the kernel was interrupted. */
enum sample_regs {
	REGS_BY_HELPER, /* bpf_task_pt_regs, 5.15 */
	REGS_BY_STACK,  /* task_struct.stack, whose offset is given */
	REGS_BY_SP,     /* the stack that rsp is on: fails while an interrupt has a stack of its own */
};

#endif
