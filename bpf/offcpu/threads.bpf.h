/*
 * The state of each thread with its wait sites, their keys, and the records of a wait. The hooks of
 * offcpu.bpf.c and its look at all threads share them.
 */
#ifndef CPROF_BPF_OFFCPU_THREADS_H
#define CPROF_BPF_OFFCPU_THREADS_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct walk_env;
#define WALK_ENV struct walk_env *

#include "bpf/calls.bpf.h" /* for programs at sched_switch: their tail calls reach no others */
#include "bpf/offcpu.h"
#include "bpf/event_ring.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/wanted.bpf.h"

const volatile unsigned long long min_ns = 1000000;
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int cpus = 1; /* scratches[cpus] is the iterator's: it can be preempted and moved */
const volatile unsigned int some_cpus = 0; /* not all: only waits of threads that leave one of these */
unsigned long long group_ids[SAMPLE_GROUPS_MAX] = { 0 }; /* one changes when its group is created again */
unsigned int mode = LOOK_BEGIN;
unsigned int exact = 0; /* on_back is attached */
unsigned int epoch = 1; /* user space has forgotten all stacks sent in another epoch */

const volatile unsigned int has_calls = 0; /* the map calls can be used */

enum {
	KTHREAD = 0x00200000, /* include/linux/sched.h: PF_KTHREAD */
	UNINTERRUPTIBLE = 2,
	SLEEPING = 1 | UNINTERRUPTIBLE,
	DEAD = 0x80,
	LEVELS = 32, /* nested control groups, at most */
	PREEMPTED = 1,
	NOWHERE = 2,
	WAKES = 3,
#if defined(__TARGET_ARCH_arm64)
	BACK_FRAMES = 3, /* two of the program (registers, frame record) and its trampoline's */
#else
	BACK_FRAMES = 2, /* the program's and its trampoline's */
#endif
	GONE = 64,   /* for report_site: the site is given up */
#if defined(__TARGET_ARCH_x86)
	FUTEX = 202, /* the number of the system call */
#else
	FUTEX = 98,
#endif
	EARLY = 200000, /* ns that a waking may come before the thread is seen to leave its CPU */
	ITEM_MOST = sizeof(struct sample_head) + ADDRESSES + sizeof(struct sample_state) + SAMPLE_STACK_MAX +
		    LANG_FRAMES * 8,
};

/* The argument that global functions pass on; see walk_maps.bpf.h. */
struct walk_env {
	unsigned int unused;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} __attribute__((preserve_access_index));

struct kernfs_node {
	unsigned long long id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct rq {
	unsigned long long clock;
} __attribute__((preserve_access_index));

/* The queue of a control group on a CPU. */
struct cfs_rq {
	struct rq *rq;
	unsigned long long throttled_clock_self, throttled_clock_self_time; /* since when or 0; in all */
} __attribute__((preserve_access_index));

struct cfs_bandwidth {
	long long hierarchical_quota; /* the group's own, or the least above */
} __attribute__((preserve_access_index));

struct task_group {
	struct cfs_rq **cfs_rq; /* by CPU */
	struct cfs_bandwidth cfs_bandwidth;
} __attribute__((preserve_access_index));

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
} __attribute__((preserve_access_index));

struct sched_entity {
	unsigned long long sum_exec_runtime;
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level; /* depth of its PID namespace; 0: the initial one */
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	struct pid *thread_pid;
	struct sched_entity se;
	unsigned int on_cpu; /* an int, later a byte (7.0); unsigned: otherwise CO-RE takes one size only */
	unsigned int flags, __state;
	int wake_cpu; /* the last CPU it was on */
	struct task_group *sched_task_group;
	_Bool throttled; /* from 6.18 on */
	struct css_set *cgroups;
	void *stack;
	int softirq_disable_cnt; /* on real-time kernels */
	const struct cred *real_cred;
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_arm64)
/* <asm/ptrace.h> has only part of this, from regs to pstate. */
struct pt_regs {
	unsigned long long regs[31], sp, pc;
	unsigned long long orig_x0;
	int syscallno; /* -1: an interrupt or a fault */
} __attribute__((preserve_access_index));
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

struct site {
	unsigned long long key;  /* 0: free */
	unsigned long long used; /* when last */
	unsigned long long ns[WAIT_REASONS]; /* waited and not reported yet */
	unsigned long long last; /* length of the last wait */
	unsigned long long epoch;
};

/* A reading of the time for which a group's queue was throttled; see quota.bpf.h. */
struct quota {
	unsigned long long total, open, since;
	unsigned long long queue; /* address; 0: there is none */
};

/* The fields for short waits come first, in few cache lines. */
struct thread {
	unsigned long long start; /* off the CPU and unreported since then; 0: it runs, or is not recorded */
	unsigned long long since; /* on the CPU since then; 0: it does not run, or unknown */
	unsigned long long ran;   /* total time on a CPU, without the run that goes on since then */
	unsigned long long left;  /* the CPU, when the wait began; the iterator moves start, but not this */
	unsigned long long woken; /* when; 0: not yet */
	unsigned long long exec;  /* the scheduler's account of its run time at start */
	unsigned short site;
	unsigned char reason;
	unsigned char stack_sent; /* that of this very wait */
	unsigned char waking_sent; /* likewise */
	unsigned char seen; /* it was switched since recording began */
	unsigned char due;  /* on_back must report its wait */
	unsigned long long slept, queued; /* the last wait if it lasted min_ns or longer; otherwise 0 */
	unsigned long long throttled, throttled_reported; /* in the current wait, or the last one */
	struct quota quota;
	struct futex futex; /* that of this very wait */
	unsigned long long on; /* the end of the last wait that lasted min_ns or longer */
	unsigned long long ran_reported; /* the part of ran that was reported ... */
	unsigned long long reported_at;  /* ... and when; at first when the thread was first seen */
	unsigned long long wakes[WAKE_SITES]; /* keys of sent stacks, with their epoch */
	struct site sites[WAIT_SITES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct wait_counts);
} waits SEC(".maps");

static __always_inline void count_wait(enum wait_count what, unsigned long long n)
{
	unsigned int zero = 0;
	struct wait_counts *c = bpf_map_lookup_elem(&waits, &zero);

	if (c)
		c->n[what] += n;
}

/* Are waits of threads that leave this CPU left out? */
static __always_inline int is_off(unsigned int cpu)
{
	unsigned int zero = 0;
	struct wait_counts *c = some_cpus ? bpf_map_lookup_percpu_elem(&waits, &zero, cpu) : NULL;

	return c && c->off;
}

static __always_inline void fill_site(struct wait *w, const struct site *s)
{
	w->head.weight = s->key;
	for (int i = 0; i < WAIT_REASONS; i++)
		w->times.ns[i] = s->ns[i];
}

static __always_inline void fill_head(struct wait *w, unsigned int pid, unsigned int tid,
				      unsigned long long now)
{
	w->head.time = now;
	w->head.cpu = bpf_get_smp_processor_id();
	w->head.pid = pid;
	w->head.tid = tid;
	w->head.what = SAMPLE_WAIT;
}

static __always_inline void fill_wait(struct wait *w, const struct site *s, unsigned int pid, unsigned int tid,
				      unsigned long long now)
{
	fill_head(w, pid, tid, now);
	fill_site(w, s);
}

/* Adds the last wait as a whole, once. */
static __always_inline void fill_last(struct wait_times *w, struct thread *t)
{
	w->slept = t->slept;
	w->queued = t->queued;
	w->throttled = t->throttled < t->queued ? t->throttled : t->queued;
	w->on = t->on;
	w->woken = t->waking_sent ? t->woken : 0;
	t->slept = t->queued = 0;
	t->waking_sent = 0;
}

/*
 * Reports the time waited at a site. which: its index, and GONE if it is given up; otherwise that of the last
 * wait. Global, so that it is verified once.
 */
WALK_FN int report_site(struct thread *t, unsigned int which, unsigned int pid, unsigned int tid,
			unsigned long long now)
{
	unsigned int gone = which & GONE;
	struct wait w = {};
	struct site *s;

	if (!t)
		return 0;
	s = &t->sites[which & (WAIT_SITES - 1)];
	fill_wait(&w, s, pid, tid, now);
	w.gone = gone;
	if (!gone)
		fill_last(&w.times, t);
	if (submit_record(&w, sizeof(w), WAKE_FOR_MUCH) == 0) {
		for (int i = 0; i < WAIT_REASONS; i++)
			s->ns[i] = 0;
	} else if (gone || w.times.slept + w.times.queued) { /* otherwise all of it stays, and is reported later */
		count_wait(WAIT_COUNT_LOST, 1);
	}
	if (gone)
		s->key = 0;
	return 0;
}

/* Global as well: the verifier follows the code after its loop once for each way through it. */
WALK_FN int report_sites(struct thread *t, unsigned int pid, unsigned int tid, unsigned long long now)
{
	for (int i = 0; t && i < WAIT_SITES; i++) {
		if (t->sites[i].key)
			report_site(t, i | GONE, pid, tid, now);
	}
	return 0;
}

/* Time run up to now. In the middle of a switch other tasks may get too little, never too much. */
static __always_inline unsigned long long ran_until(const volatile struct thread *t, unsigned long long now)
{
	unsigned long long done = t->ran, since = t->since;

	return since && since < now ? done + now - since : done;
}

/* Takes the time run since the last report, to be reported now. A caller that loses a race gets 0. */
static __always_inline unsigned long long take_ran(struct thread *t, unsigned long long now)
{
	unsigned long long before = t->ran_reported, all = ran_until(t, now);

	if (all <= before || __sync_val_compare_and_swap(&t->ran_reported, before, all) != before)
		return 0;
	return all - before;
}

static __always_inline void fill_ran(struct ran *r, struct thread *t, unsigned int pid, unsigned int tid,
				     unsigned long long now)
{
	r->head.time = now;
	r->head.cpu = bpf_get_smp_processor_id();
	r->head.pid = pid;
	r->head.tid = tid;
	r->head.what = SAMPLE_RAN;
	r->since = t->reported_at;
	r->head.weight = take_ran(t, now);
	if (r->head.weight)
		t->reported_at = now;
}

static __always_inline void report_run(struct thread *t, unsigned int pid, unsigned int tid,
				       unsigned long long now)
{
	struct ran r = {};

	fill_ran(&r, t, pid, tid, now);
	if (r.head.weight && submit_record(&r, sizeof(r), WAKE_FOR_MUCH))
		count_wait(WAIT_COUNT_LOST, 1);
}

static __always_inline unsigned long long mix_key(unsigned long long h, unsigned long long x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* A key without a site: PREEMPTED, or NOWHERE for a new thread. */
static __always_inline unsigned long long key_without(unsigned int tid, unsigned int which)
{
	return mix_key(mix_key(tid, 0x5851f42d4c957f2dull), which);
}

/*
 * The key of a wait site: the point from which the thread entered the kernel, the system call and its first
 * argument, usually the awaited descriptor or lock. (After an interrupt or a fault orig_ax is -1.) On arm64
 * the first argument is in orig_x0: if the call is traced, x0 already holds the result.
 */
static __always_inline unsigned long long key_of(const struct pt_regs *r, unsigned int tid)
{
	unsigned long long h = mix_key(tid, 0x5851f42d4c957f2dull);

	if (!r)
		return h | 1;
#if defined(__TARGET_ARCH_x86)
	h = mix_key(mix_key(h, r->rip), r->rsp);
	if ((long)r->orig_rax >= 0)
		h = mix_key(mix_key(h, r->orig_rax), r->rdi);
#elif defined(__TARGET_ARCH_arm64)
	h = mix_key(mix_key(h, r->pc), r->sp);
	if (r->syscallno >= 0)
		h = mix_key(mix_key(h, (unsigned int)r->syscallno), r->orig_x0);
#else
#error "a place where a thread waits has no key on this architecture"
#endif
	return h ? h : 1;
}

/* Is the thread in a system call? Otherwise an interrupt or a fault has brought it into the kernel. */
static __always_inline int in_call(const struct pt_regs *r)
{
#if defined(__TARGET_ARCH_x86)
	return r && (long)r->orig_rax >= 0;
#else
	return r && r->syscallno >= 0;
#endif
}

/* Returns the address of the futex that a system call waits for, and its operation; otherwise 0. */
static __always_inline unsigned long long futex_of(const struct pt_regs *r, unsigned int *op)
{
#if defined(__TARGET_ARCH_x86)
	if (!r || r->orig_rax != FUTEX || (r->cs & 0xffff) != USER_CS)
		return 0;
	*op = (unsigned int)r->rsi;
	return r->rdi;
#else
	if (!r || r->syscallno != FUTEX)
		return 0;
	*op = (unsigned int)r->regs[1];
	return r->orig_x0;
#endif
}

/* Reads the words of the futex that the current thread begins to wait for. */
WALK_FN int read_futex(struct thread *t)
{
	if (!t)
		return 0;
	if (bpf_probe_read_user(t->futex.words, sizeof(t->futex.words), (void *)t->futex.address) == 0)
		return 0; /* otherwise all are 0: the futex may be the last word of its page */
	return bpf_probe_read_user(t->futex.words, sizeof(t->futex.words[0]), (void *)t->futex.address);
}

static __always_inline void note_futex(struct thread *t, const struct pt_regs *r)
{
	unsigned int op = 0;

	t->futex.address = futex_of(r, &op);
	if (!t->futex.address)
		return;
	t->futex.op = op;
	read_futex(t);
}

/* Returns the slot of a site. A new site replaces the less recently used one of two. */
WALK_FN int find_site(struct thread *t, unsigned long long key, unsigned int pid, unsigned int tid,
		      unsigned long long now)
{
	unsigned int a = key & (WAIT_SITES - 1), b = (key >> 8) & (WAIT_SITES - 1);

	if (!t)
		return 0;
	if (t->sites[a].key == key)
		return a;
	if (t->sites[b].key != key) {
		if (t->sites[a].used < t->sites[b].used)
			b = a;
		if (t->sites[b].key)
			report_site(t, b | GONE, pid, tid, now);
		t->sites[b].key = key;
		t->sites[b].last = t->sites[b].epoch = 0;
		for (int i = 0; i < WAIT_REASONS; i++)
			t->sites[b].ns[i] = 0;
	}
	return (int)b;
}

static __always_inline enum wait_reason reason_of(unsigned int state)
{
	return state == 0 ? WAIT_CPU : state & UNINTERRUPTIBLE ? WAIT_UNINTERRUPTIBLE : WAIT_SLEEP;
}

/* Splits [start, now] into the wait and the queue. */
static __always_inline void split_time(const struct thread *t, unsigned long long start, unsigned long long now,
				  unsigned long long *waited, unsigned long long *queued)
{
	unsigned long long woken = t->reason == WAIT_CPU ? start : t->woken ? t->woken : now;

	if (woken < start)
		woken = start;
	if (woken > now)
		woken = now;
	*waited = woken - start;
	*queued = now - woken;
}

static __always_inline unsigned long long unreported(const struct site *s)
{
	return s->ns[WAIT_SLEEP] + s->ns[WAIT_UNINTERRUPTIBLE] + s->ns[WAIT_CPU] + s->ns[WAIT_THROTTLED];
}

static __always_inline void begin_stack(struct scratch *s, unsigned long long key, unsigned int pid, unsigned int tid,
					unsigned long long now)
{
	s->head.time = now;
	s->head.weight = key;
	s->head.cpu = bpf_get_smp_processor_id();
	s->head.pid = pid;
	s->head.tid = tid;
	s->head.what = SAMPLE_STACK;
	s->head.kernel_n = s->head.user_n = 0;
	s->head.generation = s->head.stack_n = 0;
	s->head.user_by = s->head.user_end = s->head.has_state = s->head.deferred = s->head.event = 0;
	s->head.lang_n = 0;
	s->n = 0;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline int saved_regs(struct task_struct *task, struct walk *w)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!r || (r->cs & 0xffff) != USER_CS)
		return 0;
	take_regs(w, r);
	return w->regs[UNWIND_RIP] != 0;
}
#endif

#endif
