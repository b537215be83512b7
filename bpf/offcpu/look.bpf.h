/*
 * Looks at each thread, for the iterator of offcpu.bpf.c: it runs at the start, at the end, and now and then in
 * between.
 */
#ifndef CPROF_BPF_OFFCPU_LOOK_H
#define CPROF_BPF_OFFCPU_LOOK_H

#include "bpf/offcpu/quota.bpf.h"

static __always_inline int write_item(struct bpf_iter__task *ctx, const void *item, unsigned long long n)
{
	unsigned int size = n;

	/* Up to 6.12 the verifier forgets bounds of stack memory lent to the kernel: keep n out of it. */
	asm volatile("" : "+r"(n));
	if (bpf_seq_write(ctx->meta->seq, &size, sizeof(size)) || n > ITEM_MOST)
		return 1;
	return bpf_seq_write(ctx->meta->seq, item, n);
}

static __always_inline unsigned long long cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* As current_owner, of another task. BPF_CORE_READ would make a const variable of the uid. */
static __always_inline unsigned int owner_of(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	unsigned int uid = 0;

	bpf_core_read(&uid, sizeof(uid), &cred->uid.val);
	return uid + 1;
}

static __always_inline int task_in_group(struct task_struct *task)
{
	struct cgroup *g = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (int i = 0; i < LEVELS && g; i++) {
		unsigned long long id = BPF_CORE_READ(g, kn, id);
		struct cgroup_subsys_state *parent = BPF_CORE_READ(g, self.parent);

		for (int j = 0; j < SAMPLE_GROUPS_MAX; j++) {
			if (group_ids[j] == id)
				return 1;
		}
		g = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
	return 0;
}

static __always_inline int task_is_wanted(struct task_struct *task)
{
	unsigned int pid = task->tgid, tid = task->pid;

	if (filter_groups && !task_in_group(task))
		return 0;
	if (filter_pids)
		return bpf_map_lookup_elem(&wanted, &pid) != NULL;
	return !filter_tids || bpf_map_lookup_elem(&wanted, &tid) != NULL;
}

#if defined(__TARGET_ARCH_x86)
/* Copies the user registers and a piece of the stack of a sleeping thread, for user space to walk. */
static __always_inline void copy_sleeping(struct task_struct *task, struct scratch *s)
{
	/* A mask: 6.1 forgets a comparison with a number that clang 14 has kept on the stack. */
	unsigned int at = s->n & SAMPLE_DEPTH_MAX * 8;

	if (!saved_regs(task, &s->walk))
		return;
	*(unsigned long long *)(s->data + at) = s->walk.regs[UNWIND_RIP] | SAMPLE_EXACT;
	s->n = at + 8;
	s->head.user_n = 1;
	s->head.user_by = SAMPLE_BY_TABLE;
	s->head.user_end = WALK_ASK;
	s->head.deferred = 1;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
	push_state(s, 0);
	at = s->n;
	if (at > ADDRESSES + sizeof(struct sample_state))
		return;
	for (unsigned int done = 0; done < WAIT_STACK; done += PIECE) {
		unsigned long from = s->walk.regs[UNWIND_RSP] + done;
		unsigned int rest = -from & (PIECE - 1); /* up to the end of the page, maybe of the stack */

		if (bpf_copy_from_user_task(s->data + at + done, PIECE, (void *)from, task, 0) == 0) {
			s->head.stack_n = done + PIECE;
			continue;
		}
		if (bpf_copy_from_user_task(s->data + at + done, rest, (void *)from, task, 0) == 0)
			s->head.stack_n = done + rest;
		return;
	}
}
#endif

/* As note_futex, for a thread that sleeps. */
static __always_inline void look_futex(struct task_struct *task, struct thread *t)
{
	unsigned int op = 0;

	t->futex.address = futex_of((struct pt_regs *)bpf_task_pt_regs(task), &op);
	t->futex.op = op;
	if (t->futex.address && bpf_copy_from_user_task(t->futex.words, sizeof(t->futex.words),
							(void *)t->futex.address, task, 0))
		t->futex.address = 0;
}

static __always_inline int was_on_off(struct task_struct *task)
{
	return some_cpus && bpf_core_field_exists(task->wake_cpu) && is_off((unsigned int)task->wake_cpu);
}

/* A thread that was off the CPU before recording began waits from now on. */
static __always_inline void look_first(struct bpf_iter__task *ctx, struct task_struct *task, struct thread *t)
{
	unsigned int pid = task->tgid, tid = task->pid, state = task->__state;
	struct scratch *s = shard_value(&scratches, cpus);
	unsigned long long now = bpf_ktime_get_ns(), key, bytes;
	long got;

	if (!t->reported_at)
		t->reported_at = now;
	if (task->on_cpu && !t->since && !t->seen && !was_on_off(task)) {
		t->since = now;
		if (t->seen) /* it was switched meanwhile: the first known run is the next one */
			t->since = 0;
	}
	if (!s || t->seen || task->on_cpu || (state & DEAD) || was_on_off(task) || !task_is_wanted(task))
		return;
	key = state ? key_of((struct pt_regs *)bpf_task_pt_regs(task), tid) : key_without(tid, PREEMPTED);
	begin_stack(s, key, pid, tid, now);
	s->head.cgroup = cgroup_of(task);
	s->head.owner = owner_of(task);
	if (want_kernel) {
		got = bpf_get_task_stack(task, s->data, (depth < SAMPLE_DEPTH_MAX ? depth : SAMPLE_DEPTH_MAX) * 8, 0);
		if (got > 0 && got <= SAMPLE_DEPTH_MAX * 8) {
			s->head.kernel_n = (short)(got / 8);
			s->n = got;
		}
	}
#if defined(__TARGET_ARCH_x86)
	if (want_user && by_table)
		copy_sleeping(task, s);
#endif
	bytes = sample_bytes(s);
	if (!bytes || write_item(ctx, &s->head, bytes) || t->seen)
		return;
	t->site = key & (WAIT_SITES - 1);
	t->sites[t->site & (WAIT_SITES - 1)].key = key;
	t->sites[t->site & (WAIT_SITES - 1)].epoch = epoch;
	t->reason = reason_of(state);
	t->stack_sent = 1;
	t->woken = 0;
	t->throttled = t->throttled_reported = 0;
	if (t->reason == WAIT_CPU)
		begin_quota(task, t, now);
	look_futex(task, t);
	t->exec = task->se.sum_exec_runtime;
	t->left = t->start = now;
	if (t->seen || task->on_cpu)
		t->start = 0;
}

/* Reports the time run up to now. The caller gives *took back if a later item finds no room. */
static __always_inline int look_ran(struct bpf_iter__task *ctx, struct task_struct *task, struct thread *t,
				    unsigned long long *took)
{
	unsigned long long now = bpf_ktime_get_ns();
	struct ran r = {};

	if (ran_until(t, now) <= t->ran_reported || !task_is_wanted(task))
		return 0;
	fill_ran(&r, t, task->tgid, task->pid, now);
	r.head.cgroup = cgroup_of(task);
	r.head.owner = owner_of(task);
	*took = r.head.weight;
	return *took && write_item(ctx, &r, sizeof(r));
}

/* A waking shortly before the thread left its CPU has not ended the wait if the thread sleeps. */
static __always_inline void drop_early(struct task_struct *task, struct thread *t)
{
	unsigned long long woken = t->woken;

	if (woken && woken < t->left && (task->__state & SLEEPING))
		__sync_val_compare_and_swap(&t->woken, woken, 0);
}

/* Returns memory for a report: a program's stack of 512 bytes has no room for two. */
static __always_inline struct wait *clear_wait(void)
{
	struct scratch *s = shard_value(&scratches, cpus);
	struct wait *w = s ? (struct wait *)&s->head : NULL;

	if (w)
		*w = (struct wait){};
	return w;
}

/* Reports the current wait up to now. Returns nonzero if there is no room. */
static __always_inline int look_again(struct bpf_iter__task *ctx, struct task_struct *task, struct thread *t)
{
	unsigned long long start = t->start, now = bpf_ktime_get_ns(), waited, queued, throttled;
	struct wait *w = clear_wait();

	if (!w || !start || start >= now)
		return 0;
	drop_early(task, t);
	split_time(t, start, now, &waited, &queued);
	throttled = take_throttled(t, throttled_until(task, t, now), queued);
	fill_wait(w, &t->sites[t->site & (WAIT_SITES - 1)], task->tgid, task->pid, now);
	for (int i = 0; i < WAIT_REASONS; i++)
		w->times.ns[i] = 0;
	w->times.ns[t->reason < WAIT_CPU ? t->reason : WAIT_CPU] = waited;
	w->times.ns[WAIT_CPU] += queued - throttled;
	w->times.ns[WAIT_THROTTLED] = throttled;
	if (mode == LOOK_END)
		return write_item(ctx, w, sizeof(*w));
	if (__sync_val_compare_and_swap(&t->start, start, now) != start)
		return 0; /* it runs by now, and has reported the wait itself */
	t->throttled_reported += throttled;
	if (!write_item(ctx, w, sizeof(*w)))
		return 0;
	if (__sync_val_compare_and_swap(&t->start, now, start) != now)
		count_wait(WAIT_COUNT_LOST, 1);
	else
		t->throttled_reported -= throttled;
	return 1;
}

/* Without room now, nothing of this thread is written, and the iterator calls for it again. */
static __always_inline void look_both(struct bpf_iter__task *ctx, struct task_struct *task, struct thread *t)
{
	unsigned long long took = 0;

	if (look_ran(ctx, task, t, &took) || look_again(ctx, task, t))
		__sync_fetch_and_sub(&t->ran_reported, took);
}

static __always_inline void look_last(struct bpf_iter__task *ctx, struct task_struct *task, struct thread *t)
{
	unsigned long long now = bpf_ktime_get_ns(), took = 0;
	struct wait *w;

	if (look_ran(ctx, task, t, &took) || look_again(ctx, task, t)) {
		__sync_fetch_and_sub(&t->ran_reported, took);
		return;
	}
	w = clear_wait();
	if (!w)
		return;
	fill_wait(w, &t->sites[0], task->tgid, task->pid, now);
	/* Unrolled: 6.1 claims that clang 14's loop falls through to its own entry. */
#pragma clang loop unroll(full)
	for (int i = 0; i < WAIT_SITES; i++) {
		if (!t->sites[i].key || !unreported(&t->sites[i]))
			continue;
		fill_site(w, &t->sites[i]);
		if (write_item(ctx, w, sizeof(*w))) {
			__sync_fetch_and_sub(&t->ran_reported, took);
			return;
		}
	}
}

#endif
