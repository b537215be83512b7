/*
 * The part of a thread's time without a CPU in which the quota of a control group (cpu.max) kept it from
 * running.
 *
 * Each CPU has a queue for each group. The queue counts the time in which it was throttled, by the quota of
 * its group or of a group above. So the difference of its counts at the end and at the beginning of a wait
 * is the throttled time, even if the group was throttled several times. Linux has this counter since 6.6.
 *
 * Up to Linux 6.17, all threads in the queue are throttled together. From 6.18 on, each thread is throttled
 * when it is about to return to user space: the scheduler marks it, and it leaves its CPU.
 */
#ifndef CPROF_BPF_OFFCPU_QUOTA_H
#define CPROF_BPF_OFFCPU_QUOTA_H

#include "bpf/offcpu/threads.bpf.h"

enum { UNLIMITED = -1 }; /* kernel/sched/sched.h: RUNTIME_INF */

static __always_inline int counts_throttled(void)
{
	return bpf_core_field_exists(((struct cfs_rq *)0)->throttled_clock_self_time);
}

/* Are threads marked one by one? */
static __always_inline int marks_throttled(void)
{
	return bpf_core_field_exists(((struct task_struct *)0)->throttled);
}

/* May the thread be throttled from now on, before it runs again? The mark is cheap, and so is the limit. */
static __always_inline int may_be_throttled(struct task_struct *p)
{
	if (!counts_throttled())
		return 0;
	if (marks_throttled())
		return p->throttled;
	return !bpf_core_field_exists(((struct cfs_bandwidth *)0)->hierarchical_quota) ||
	       p->sched_task_group->cfs_bandwidth.hierarchical_quota != UNLIMITED;
}

static __always_inline void read_quota(struct thread *t, struct cfs_rq *queue, unsigned long long now)
{
	t->quota.total = BPF_CORE_READ(queue, throttled_clock_self_time);
	t->quota.open = BPF_CORE_READ(queue, throttled_clock_self);
	t->quota.since = now;
	t->quota.queue = (unsigned long long)queue;
}

/* The thread begins to wait for a CPU, in the queue in which it is now. */
static __always_inline void begin_quota(struct task_struct *p, struct thread *t, unsigned long long now)
{
	if (may_be_throttled(p))
		read_quota(t, p->se.cfs_rq, now);
}

/*
 * Returns the throttled time from quota.since on. The queue's CPU has a scheduler clock of its own, which
 * lags while that CPU is idle. It runs as fast as the clock of `now`, apart from corrections by NTP.
 */
static __always_inline unsigned long long throttled_since(const struct thread *t, unsigned long long now)
{
	struct cfs_rq *queue = (struct cfs_rq *)t->quota.queue;
	unsigned long long span = now - t->quota.since, open = BPF_CORE_READ(queue, throttled_clock_self),
			   clock = BPF_CORE_READ(queue, rq, clock);
	long long sum = BPF_CORE_READ(queue, throttled_clock_self_time) - t->quota.total;

	if (open && open == t->quota.open)
		return span;
	if (open && clock > open)
		sum += clock - open;
	if (t->quota.open)
		sum -= clock - span - t->quota.open;
	return sum < 0 ? 0 : (unsigned long long)sum > span ? span : (unsigned long long)sum;
}

/* Returns the throttled time of the current wait. In another group's queue it has ended. */
static __always_inline unsigned long long throttled_until(struct task_struct *p, const struct thread *t,
							  unsigned long long now)
{
	if (!counts_throttled() || !t->quota.queue || t->quota.queue != (unsigned long long)p->se.cfs_rq)
		return t->throttled;
	return t->throttled + throttled_since(t, now);
}

static __always_inline void end_quota(struct task_struct *p, struct thread *t, unsigned long long now)
{
	if (!counts_throttled() || !t->quota.queue)
		return;
	t->throttled = throttled_until(p, t, now);
	t->quota.queue = 0;
}

/* The thread moves to the queue of another CPU. */
static __always_inline void move_quota(struct task_struct *p, struct thread *t, unsigned int cpu,
				       unsigned long long now)
{
	struct cfs_rq *queue = NULL;

	if (!counts_throttled() || !t->quota.queue)
		return;
	end_quota(p, t, now);
	if (bpf_probe_read_kernel(&queue, sizeof(queue), p->sched_task_group->cfs_rq + cpu) == 0 && queue)
		read_quota(t, queue, now);
}

/* Returns the throttled part of this time in the queue that was not reported before. */
static __always_inline unsigned long long take_throttled(struct thread *t, unsigned long long all,
							 unsigned long long queued)
{
	unsigned long long part = all > t->throttled_reported ? all - t->throttled_reported : 0;

	return part < queued ? part : queued;
}

#endif
