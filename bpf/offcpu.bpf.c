/*
 * Waits of threads: their sites, their lengths and their ends.
 *
 * A stack at each switch would cost more than most waits last. So a thread remembers its last wait sites: by
 * the registers with which it entered the kernel, and by its system call. The program takes a stack if the
 * site is new, or if the time waited there since the last stack will come to min_ns, should this wait be as
 * long as the one before. All other waits are only added up. Nothing is left out: the sum is reported with
 * the next stack, when it comes to min_ns, or at the end.
 *
 * If the kernel can run a program when schedule() returns (fexit: not if ftrace is missing or locked away),
 * the stack of a wait that came to min_ns is taken there instead: the wait is over then, and its length is no
 * longer a guess. So a long wait has its own stack even if a thousand short ones reached the same site by
 * another path; `make check-kernels` tests that. None of our own machines has fexit, so its cost is not
 * measured.
 *
 * Time in the queue for a CPU belongs to the site: [left the CPU, woken] is the wait, [woken, runs] is the
 * queue, or a quota held the thread back (quota.bpf.h). A preempted thread did not choose its site; there the
 * sum alone decides, as a timer would.
 *
 * The waker's kernel stack is taken at sched_waking, which runs in its context: sched_wakeup may come on the
 * CPU of the woken thread, and both together would cost three times as much. It is taken only for waits of at
 * least min_ns. With a millisecond, these are a small part of the waits, but nearly all of the time.
 *
 * The same switches add up how long a thread ran between its waits. A timer shows where a thread ran, but
 * hardly how long if the runs are short. On a virtual machine it missed 14 us of each run, in which the
 * kernel switched the thread out with interrupts off; the tick then hit the next task. For a thread that
 * sleeps for 50 us at a time, that was three quarters.
 *
 * This is an object of its own because it needs BTF and 5.19.
 */
#include "bpf/offcpu/context.bpf.h"
#include "bpf/offcpu/fingerprint.bpf.h"
#include "bpf/offcpu/look.bpf.h"
#include "bpf/offcpu/threads.bpf.h"
#include "bpf/offcpu/timed.bpf.h"

/*
 * The stack of the current thread, in parts: only the program itself can pass its context to bpf_get_stack,
 * and the rest is in global functions, so that each is verified once. Returns 0 if the scratch is in use.
 */
WALK_FN int begin_own_stack(unsigned long long key, unsigned long long now, int back)
{
	unsigned long long who = bpf_get_current_pid_tgid();
	struct scratch *s = my_scratch();

	/* In one step: on_back may be preempted, and another thread may come back on this CPU. */
	if (!s || __sync_lock_test_and_set(&s->busy, 1))
		return 0;
	begin_stack(s, key, who >> 32, (unsigned int)who, now);
	s->head.cgroup = bpf_get_current_cgroup_id();
	s->head.owner = current_owner();
	s->head.event = back;
	return 1;
}

#if defined(__TARGET_ARCH_x86)
WALK_FN int take_by_table(void)
{
	struct scratch *s = my_scratch();
	struct walk_env env = {};

	if (s && saved_regs(bpf_get_current_task_btf(), &s->walk))
		walk_or_defer(&env, s);
	return 0;
}
#endif

/* back: that has returned, with BACK_FRAMES more frames. Returns NULL without a begun stack. */
static __always_inline struct scratch *take_stack(void *ctx, int back)
{
	struct scratch *s = my_scratch();

	if (!s)
		return NULL;
	if (want_kernel)
		s->n += fp_stack(ctx, s, back ? BACK_FRAMES : 0, &s->head.kernel_n);
#if defined(__TARGET_ARCH_x86)
	if (want_user && by_table)
		take_by_table();
#endif
	if (want_user && s->head.user_by == SAMPLE_BY_FP)
		s->n += fp_stack(ctx, s, BPF_F_USER_STACK, &s->head.user_n);
	return s;
}

/* Returns nonzero if the ring is full. */
static __always_inline int submit_stack(struct scratch *s)
{
	unsigned long long bytes = sample_bytes(s);
	int failed = !bytes || submit_record(&s->head, bytes, WAKE_FOR_MUCH);

	s->busy = 0;
	return failed;
}

/* Sends the stack of the wait that the current thread begins, and notes that at the wait site. */
WALK_FN int finish_stack(void)
{
	struct task_struct *prev = (void *)bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, prev, 0, 0);
	struct scratch *s = my_scratch();
	unsigned long long began;

	if (!s || !s->busy)
		return 0;
	began = s->head.time;
	if (submit_stack(s) == 0 && t) {
		t->stack_sent = 1;
		t->sites[t->site & (WAIT_SITES - 1)].epoch = epoch;
	}
	count_wait(WAIT_COUNT_NS, bpf_ktime_get_ns() - began);
	return 0;
}

/* In this order: see ran_until(). */
static __always_inline void stop_running(volatile struct thread *t, unsigned long long now)
{
	unsigned long long since = t->since;

	t->since = 0;
	if (since && since < now)
		t->ran += now - since;
}

/* Notes a wait of at least min_ns as a whole. A waking may have come before the thread was seen to leave. */
static __always_inline void note_last(struct thread *t, unsigned long long now)
{
	unsigned long long left = t->left, woken = t->reason == WAIT_CPU ? left : t->woken ? t->woken : now;

	t->slept = t->queued = 0;
	if (!left || now <= left || now - left < min_ns)
		return;
	if (woken < left)
		woken = left;
	if (woken > now)
		woken = now;
	t->on = now;
	t->slept = woken - left;
	t->queued = now - woken;
}

WALK_FN int enter(struct thread *t, unsigned int pid, unsigned int tid, unsigned long long now)
{
	unsigned long long start, waited, queued, throttled;
	struct site *s;
	int due;

	if (!t)
		return 0;
	t->since = is_off(bpf_get_smp_processor_id()) ? 0 : now;
	if (!t->start)
		return 0;
	start = __sync_lock_test_and_set(&t->start, 0); /* the iterator may take it at the same time */
	if (!start)
		return 0;
	split_time(t, start, now, &waited, &queued);
	note_last(t, now);
	s = &t->sites[t->site & (WAIT_SITES - 1)];
	s->last = waited + queued;
	if (t->reason == WAIT_SLEEP) /* constants: older verifiers lose the bounds of a computed index */
		s->ns[WAIT_SLEEP] += waited;
	else if (t->reason == WAIT_UNINTERRUPTIBLE)
		s->ns[WAIT_UNINTERRUPTIBLE] += waited;
	else
		queued += waited;
	throttled = t->throttled ? take_throttled(t, t->throttled, queued) : 0;
	s->ns[WAIT_THROTTLED] += throttled;
	s->ns[WAIT_CPU] += queued - throttled;
	due = unreported(s) >= min_ns || t->slept + t->queued;
	if (exact && !t->stack_sent && t->reason != WAIT_CPU)
		t->due = due;
	else if (t->stack_sent || due)
		report_site(t, t->site & (WAIT_SITES - 1), pid, tid, now);
	return 0;
}

/*
 * The thread leaves, but was not seen to arrive: not every kernel reports each switch. The scheduler knows
 * how long it ran since; the time before that was the wait.
 */
static __always_inline void make_up(struct task_struct *prev, struct thread *t, unsigned long long now)
{
	unsigned long long start = t->start, ran = prev->se.sum_exec_runtime - t->exec;

	if (!start || start >= now)
		return;
	end_quota(prev, t, now);
	enter(t, prev->tgid, prev->pid, now - (ran < now - start ? ran : now - start));
}

/* The thread is dead, or not wanted any more: reports its waits and its run time. */
static __always_inline void report_last(struct thread *t, unsigned int pid, unsigned int tid,
					unsigned long long now)
{
	stop_running(t, now); /* as reported: the thread may be wanted again */
	report_sites(t, pid, tid, now);
	report_run(t, pid, tid, now);
	t->left = 0;
}

/* The current thread leaves. Returns nonzero if it has begun a stack, which finish_stack sends. */
WALK_FN int leave_cpu(int preempted, unsigned int state, unsigned long long now)
{
	struct task_struct *prev = (void *)bpf_get_current_task_btf();
	unsigned int pid = prev->tgid, tid = prev->pid;
	const struct pt_regs *regs;
	unsigned long long key;
	struct thread *t;
	struct site *s;
	int wanted;

	if (prev->flags & KTHREAD)
		return 0;
	t = bpf_task_storage_get(&threads, prev, 0, 0);
	if (!t)
		return 0;
	t->seen = 1;
	wanted = is_wanted(pid, tid);
	if (wanted) {
		make_up(prev, t, now);
		stop_running(t, now);
	}
	if (!wanted || (state & DEAD)) {
		if (wanted || t->left) /* it was wanted */
			report_last(t, pid, tid, now);
		t->start = t->since = 0;
		return 0;
	}
	if (t->due) { /* it was switched in, but not by schedule() */
		t->due = 0;
		report_site(t, t->site & (WAIT_SITES - 1), pid, tid, now);
	}
	if (is_off(bpf_get_smp_processor_id())) {
		t->start = 0;
		return 0;
	}
	t->reason = preempted ? WAIT_CPU : reason_of(state);
	regs = t->reason == WAIT_CPU ? NULL : (struct pt_regs *)bpf_task_pt_regs(prev);
	key = t->reason == WAIT_CPU ? key_without(tid, PREEMPTED) : key_of(regs, tid);
	if (t->sites[key & (WAIT_SITES - 1)].key == key) /* mostly; without a call */
		t->site = key & (WAIT_SITES - 1);
	else
		t->site = find_site(t, key, pid, tid, now);
	s = &t->sites[t->site & (WAIT_SITES - 1)];
	s->used = now;
	if (t->reason == WAIT_SLEEP)
		note_futex(t, regs);
	else
		t->futex.address = 0;
	t->throttled = t->throttled_reported = 0;
	if (t->reason == WAIT_CPU)
		begin_quota(prev, t, now);
	t->stack_sent = t->waking_sent = 0;
	if (t->woken + EARLY < now)
		t->woken = 0;
	t->exec = prev->se.sum_exec_runtime;
	t->left = t->start = now;
	return (s->epoch != epoch ||
		((!exact || t->reason == WAIT_CPU) && unreported(s) + s->last >= min_ns)) &&
	       begin_own_stack(key, now, STACK_OF_WAIT);
}

/* The arguments of a tracepoint are those of its TP_PROTO in include/trace/events. */

/* bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state */
SEC("tp_btf/sched_switch")
int on_switch(unsigned long long *ctx)
{
	struct task_struct *next = (void *)ctx[2];
	unsigned long long now = bpf_ktime_get_ns();
	int began = leave_cpu(ctx[0] & 1, (unsigned int)ctx[3], now);
	struct scratch *scratch;
	struct thread *t = next->flags & KTHREAD ? NULL : bpf_task_storage_get(&threads, next, 0, 0);

	if (t) {
		end_quota(next, t, now);
		enter(t, next->tgid, next->pid, now);
	}
	count_wait(WAIT_COUNT_RUNS, 1);
	if (!began) {
		if (is_timed(now))
			count_wait(WAIT_COUNT_NS, (bpf_ktime_get_ns() - now) * TIMED);
		return 0;
	}
	scratch = take_stack(ctx, 0);
	if (has_calls && scratch && scratch->head.user_n > 0)
		bpf_tail_call(ctx, &calls, CALL_FIND); /* ends in finish_switch, unless it fails */
	finish_stack();
	return 0;
}

/* The end of a stack with frames of an interpreted language. */
SEC("tp_btf/sched_switch")
int finish_switch(unsigned long long *ctx)
{
	(void)ctx;
	finish_stack();
	return 0;
}

/* A function of its own: beside a walk's frames, a program's 512 bytes have no room for a struct wait. */
static __noinline int report_times(const struct wait_times *times, unsigned long long key,
				   unsigned long long now)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct wait w = { .times = *times };

	fill_head(&w, task->tgid, task->pid, now);
	w.head.weight = key;
	return submit_record(&w, sizeof(w), WAKE_FOR_MUCH);
}

/*
 * schedule() returns to a thread after a long wait. The thread may be preempted here, and on_switch may give
 * the site to another wait: so the reported time is taken out first.
 */
SEC("fexit/schedule")
int on_back(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	unsigned long long key, now;
	struct wait_times times;
	struct scratch *scratch;
	struct thread *t;
	struct site *s;

	if (task->flags & KTHREAD)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t || !t->due)
		return 0;
	t->due = 0;
	s = &t->sites[t->site & (WAIT_SITES - 1)];
	key = s->key;
	now = bpf_ktime_get_ns();
	for (int i = 0; i < WAIT_REASONS; i++)
		times.ns[i] = __sync_lock_test_and_set(&s->ns[i], 0);
	fill_last(&times, t);
	scratch = begin_own_stack(key, now, STACK_OF_RETURN) ? take_stack(ctx, 1) : NULL;
	if (scratch && submit_stack(scratch) == 0)
		s->epoch = epoch;
	if (report_times(&times, key, now))
		count_wait(WAIT_COUNT_LOST, 1);
	if (t->left < now) /* otherwise others ran meanwhile */
		count_wait(WAIT_COUNT_NS, bpf_ktime_get_ns() - now);
	return 0;
}

/* Interrupts are off here, so one value per CPU is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct waker);
} wakings SEC(".maps");

/* By fingerprint: an enum woken_by plus KNOWN_BY. Filled by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, INTERRUPTS_KNOWN);
	__type(key, unsigned long long);
	__type(value, unsigned int);
} known_interrupts SEC(".maps");

/*
 * Begins the stack of the current thread as a waker, if it is at a new place. Sets *site to the key of the
 * place, or to 0. An interrupted thread is most often no waker, and has countless places.
 */
WALK_FN int begin_waker(unsigned long long now, unsigned long long *site)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	unsigned long long key, seen;
	const struct pt_regs *regs;
	struct thread *t;

	if (!site)
		return 0;
	*site = 0;
	if (task->flags & KTHREAD)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!in_call(regs) || !is_wanted(task->tgid, task->pid))
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	key = mix_key(key_of(regs, task->pid), WAKES);
	seen = mix_key(key, epoch);
	*site = key;
	if (t->wakes[key & (WAKE_SITES - 1)] == seen)
		return 0;
	if (begin_own_stack(key, now, STACK_OF_WAKER))
		return 1;
	*site = 0;
	return 0;
}

/* User space has the stack of the current thread as a waker at this place. */
WALK_FN int know_waker(unsigned long long site)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (t)
		t->wakes[site & (WAKE_SITES - 1)] = mix_key(site, epoch);
	return 0;
}

static __always_inline unsigned long long waker_site(void *ctx, unsigned long long now)
{
	unsigned long long site = 0;
	struct scratch *s;

	if (!begin_waker(now, &site))
		return site;
	s = take_stack(ctx, 0);
	if (s && submit_stack(s))
		count_wait(WAIT_COUNT_LOST, 1);
	else if (s)
		know_waker(site);
	return site;
}

/* Returns the bytes of the stack, which is not taken if the waker is known without it. */
static __always_inline unsigned long long waker_stack(void *ctx, struct waker *w)
{
	unsigned int *known;
	long got;

	w->fingerprint = 0;
	w->known = in_task() ? KNOWN_TASK : 0;
	if (w->known)
		return 0;
	w->fingerprint = fingerprint_interrupt(ctx, &w->whole);
	known = w->fingerprint ? bpf_map_lookup_elem(&known_interrupts, &w->fingerprint) : NULL;
	w->known = known ? *known : 0;
	if (w->known)
		return 0;
	got = bpf_get_stack(ctx, w->stack, WAKER_STACK, 0);
	return got > 0 ? got : 0;
}

static __always_inline void send_waking(void *ctx, struct task_struct *p, struct thread *t,
					unsigned long long now)
{
	unsigned long long site = waker_site(ctx, now), n;
	unsigned int zero = 0;
	struct waker *w;

	w = bpf_map_lookup_elem(&wakings, &zero);
	if (!w)
		return;
	w->futex = t->futex;
	if (p->thread_pid->level) /* its words have the numbers of another PID namespace */
		__builtin_memset(w->futex.words, 0, sizeof(w->futex.words));
	n = waker_stack(ctx, w);
	/* The verifier of 6.12 and earlier has forgotten the bounds; this is the form that it understands. */
	asm volatile("" : "+r"(n));
	n &= sizeof(w->stack) - 1;
	w->head.time = now;
	w->head.weight = bpf_get_current_pid_tgid();
	w->head.cpu = bpf_get_smp_processor_id();
	w->head.pid = p->tgid;
	w->head.tid = p->pid;
	w->head.what = SAMPLE_WAKER;
	w->head.kernel_n = (short)(n / 8);
	w->site = site;
	if (submit_record(w, sizeof(*w) - sizeof(w->stack) + n, WAKE_FOR_MUCH))
		count_wait(WAIT_COUNT_LOST, 1);
	else
		t->waking_sent = 1;
	count_wait(WAIT_COUNT_NS, bpf_ktime_get_ns() - now);
}

SEC("tp_btf/sched_waking")
int on_waking(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	unsigned long long now, start;
	struct thread *t;

	if (p->flags & KTHREAD)
		return 0;
	t = bpf_task_storage_get(&threads, p, 0, 0);
	if (!t)
		return 0;
	start = t->start;
	if (start && t->woken >= t->left)
		return 0;
	now = bpf_ktime_get_ns();
	t->woken = now;
	if (start && t->reason != WAIT_CPU && !marks_throttled())
		begin_quota(p, t, now);
	if (start && t->reason != WAIT_CPU && now - t->left >= min_ns)
		send_waking(ctx, p, t, now);
	else if (is_timed(now))
		count_wait(WAIT_COUNT_NS, (bpf_ktime_get_ns() - now) * TIMED);
	return 0;
}

/* struct task_struct *p, int dest_cpu. Loaded only if throttled time is counted. */
SEC("tp_btf/sched_migrate_task")
int on_migrate(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct thread *t = p->flags & KTHREAD ? NULL : bpf_task_storage_get(&threads, p, 0, 0);

	if (t)
		move_quota(p, t, (unsigned int)ctx[1], bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/task_newtask")
int on_new(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (!(task->flags & KTHREAD))
		bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* A new thread waits for a CPU for the first time: it has not run yet, and its stack is empty. */
SEC("tp_btf/sched_wakeup_new")
int on_first(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	unsigned int pid = p->tgid, tid = p->pid;
	struct sample_head head = {};
	struct thread *t;

	if (p->flags & KTHREAD)
		return 0;
	t = bpf_task_storage_get(&threads, p, 0, 0);
	if (!t)
		return 0;
	t->reported_at = head.time = bpf_ktime_get_ns(); /* also if not wanted yet: its group may be later */
	if (is_off(bpf_get_smp_processor_id()) || !is_wanted(pid, tid))
		return 0;
	head.weight = key_without(tid, NOWHERE);
	head.cgroup = bpf_get_current_cgroup_id();
	head.owner = current_owner();
	head.cpu = bpf_get_smp_processor_id();
	head.pid = pid;
	head.tid = tid;
	head.what = SAMPLE_STACK;
	t->reason = WAIT_CPU;
	t->site = find_site(t, head.weight, pid, tid, head.time);
	t->stack_sent = submit_record(&head, sizeof(head), WAKE_FOR_MUCH) == 0;
	t->woken = 0;
	t->throttled = t->throttled_reported = 0;
	begin_quota(p, t, head.time);
	t->futex.address = 0;
	t->seen = 1;
	t->left = t->start = head.time;
	return 0;
}

/* The thread's sites are those of the old image, also those from which it woke others. */
SEC("tp_btf/sched_process_exec")
int on_exec(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct thread *t = bpf_task_storage_get(&threads, p, 0, 0);

	if (!t)
		return 0;
	report_sites(t, p->tgid, p->pid, bpf_ktime_get_ns());
	for (int i = 0; i < WAKE_SITES; i++)
		t->wakes[i] = 0;
	return 0;
}

/* Reports the time run under the old name. In an exec this is the last report before perf's own record. */
SEC("tp_btf/task_rename")
int on_rename(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct thread *t;

	if (p->flags & KTHREAD)
		return 0;
	t = bpf_task_storage_get(&threads, p, 0, 0);
	if (t && is_wanted(p->tgid, p->pid))
		report_run(t, p->tgid, p->pid, bpf_ktime_get_ns());
	return 0;
}

SEC("iter.s/task")
int look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task || (task->flags & KTHREAD))
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, mode == LOOK_BEGIN ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!t)
		return 0;
	if (mode == LOOK_BEGIN)
		look_first(ctx, task, t);
	else if (mode == LOOK_REPORT)
		look_both(ctx, task, t);
	else
		look_last(ctx, task, t);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
