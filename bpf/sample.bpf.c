/*
 * The sampling program: the stacks of what was interrupted, into its CPU's lane, and nothing else.
 *
 * No stack map, no symbol: what a sample costs the host, a few us (make bench), is mostly reading the
 * stacks. Waking the reader at each sample would cost as much again, so it is woken by quantity, and by
 * its own timer.
 *
 * The user stack is walked by tables (unwind.h). Where a process or a file is not known yet, the registers
 * and a piece of the stack go along, and user space goes on from there: nobody has to be told of each
 * new process at once, and only files that are met get a table.
 *
 * No CO-RE relocation here: this object must load on kernels without BTF.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lane.h"
#include "bpf/stack.h"
#include "bpf/wanted.h"

/* Set before loading; the verifier drops what they switch off. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int want_weight = 0, want_cgroup = 1;
/* Where the idle loop waits: a tick of pid 0 there found the CPU idle; elsewhere it does real work. */
const volatile unsigned long idle_start[2] = { 0, 0 }, idle_end[2] = { 0, 0 };
const volatile unsigned int always_copy = 0;     /* for a check of what was walked */
const volatile unsigned int regs_by = REGS_BY_HELPER;
const volatile unsigned int task_stack_at = 0;   /* REGS_BY_STACK: offset of task_struct.stack */

const volatile unsigned int looks_back = 0;      /* other programs run beside this one, and may keep it from running */

/* Nothing has happened for a while: the reader looks but once a second. */
unsigned int reader_rests SEC(".data") = 0;

enum {
	ON_TIME_SHARE = 16,  /* a tick is on time within so small a part of a period, ... */
	ON_TIME = 100000,    /* ... and within so many ns */
	KEPT_OUT_MOST = 100, /* ticks on end: more than that is a machine that stood still */
	KERNEL_STACK = 16 << 10, /* THREAD_SIZE of x86-64 */
	KERNEL_STACK_PADDING = 16, /* above the registers, from 6.9 on where it is built for FRED */
};

static __always_inline int is_idle(struct bpf_perf_event_data *ctx)
{
	unsigned long ip = PT_REGS_IP(&ctx->regs);

	return (ip >= idle_start[0] && ip < idle_end[0]) || (ip >= idle_start[1] && ip < idle_end[1]);
}

#if defined(__TARGET_ARCH_x86)
/* Where the user's registers are, with which the kernel was entered; 0: nowhere. */
static __always_inline unsigned long kernel_saved(struct bpf_perf_event_data *ctx)
{
	unsigned long stack = 0;

	if (regs_by == REGS_BY_HELPER)
		return bpf_task_pt_regs(bpf_get_current_task_btf());
	if (regs_by == REGS_BY_STACK)
		bpf_probe_read_kernel(&stack, sizeof(stack), (void *)(bpf_get_current_task() + task_stack_at));
	else
		stack = ctx->regs.rsp & ~((unsigned long)KERNEL_STACK - 1);
	return stack ? stack + KERNEL_STACK - sizeof(struct pt_regs) : 0;
}

/* 0: no user stack, or one of 32-bit code. */
static __always_inline int user_regs(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	unsigned long saved;

	if (from_user(ctx)) {
		take_regs(&s->walk, &ctx->regs);
		return ctx->regs.cs == USER_CS;
	}
	saved = kernel_saved(ctx);
	if (!saved)
		return 0;
	return read_regs(s, saved) || (regs_by != REGS_BY_HELPER && read_regs(s, saved - KERNEL_STACK_PADDING));
}

/* What user space needs to go on. For a check of the whole walk it is the leaf's state. */
static __always_inline void defer(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	unsigned int at = s->head.user_n ? s->head.user_n - 1 : 0;

	if (always_copy) {
		user_regs(ctx, s);
		s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
		at = 0;
	}
	push_state(s, at);
	copy_stack(ctx);
}

static __always_inline void take_by_table(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	int asks;

	if (!user_regs(ctx, s))
		return;
	asks = walk_user(ctx, s, s->head.pid);
	s->head.user_by = SAMPLE_BY_TABLE;
	if (s->head.user_n == 0 || (!asks && !always_copy))
		return;
	if (!may_copy(s)) {
		if (asks)
			s->head.user_end = WALK_COPY;
		return;
	}
	s->head.deferred = asks;
	defer(ctx, s);
}
#endif

static __always_inline enum sample_count take(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	if (!has_room(s))
		return COUNT_RING_FULL;
	s->head.kernel_n = s->head.user_n = 0;
	s->head.generation = s->head.stack_n = 0;
	s->head.user_by = s->head.user_end = s->head.has_state = s->head.deferred = 0;
	s->n = 0;
	if (want_kernel && !from_user(ctx))
		s->n += fp_stack(ctx, s, 0, &s->head.kernel_n);
#if defined(__TARGET_ARCH_x86)
	if (want_user && by_table)
		take_by_table(ctx, s);
#endif
	if (want_user && s->head.user_by == SAMPLE_BY_FP)
		s->n += fp_stack(ctx, s, BPF_F_USER_STACK, &s->head.user_n);
	put(s, s->n + (s->head.has_state ? s->head.stack_n : 0));
	/* Something that user space does not know yet does not wait for as long as it rests. */
	wake(s, by_table && s->head.deferred && reader_rests);
	return COUNT_EMITTED;
}

/*
 * Of a tick that the kernel takes while another program runs on the CPU we are not told. But ticks stand on a grid, since
 * perf's timer goes on by whole periods: where some are missing and the next is on time, the timer worked all the
 * while, and we were kept out. Where the CPU stood still, or took no interrupts, the next one is late, at
 * the moment at which that ended. Late by nearly a period looks as being on time, until another comes at once. And where a CPU that
 * sleeps has no ticks, the first one behind that may be on time as well: user space knows for how long it slept.
 */
static __always_inline void look_back(struct sample_counts *c, unsigned long long tick_ns, unsigned long long now,
				      unsigned long long gap)
{
	unsigned long long period = looks_back ? tick_ns : 0, near = period / ON_TIME_SHARE, n, after;

	if (!period)
		return;
	if (near > ON_TIME)
		near = ON_TIME;
	if (gap > period / 2)
		c->n[COUNT_KEPT_OUT] += c->kept_out;
	c->kept_out = 0;
	n = (now + near - c->grid) / period;
	after = now + near - c->grid - n * period;
	if (c->period != period || gap + near - period < 2 * near) {
		c->grid = now; /* one period behind another: this is the grid, wherever it was before */
		c->period = period;
	} else if (after < 2 * near) {
		if (n > 1 && n <= KEPT_OUT_MOST)
			c->kept_out = n - 1;
		c->grid = now;
	} else {
		c->grid += n * period;
	}
}

/* A new image: what is known of the process is not true any more. */
SEC("raw_tracepoint/sched_process_exec")
int forget(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;

	(void)ctx;
	if (bpf_map_delete_elem(&spaces, &pid) == 0)
		count_change();
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	unsigned long long start = bpf_ktime_get_ns(), gap, id = bpf_get_current_pid_tgid();
	unsigned int pid = id >> 32, tid = (unsigned int)id;
	struct scratch *s = my_scratch();
	struct sample_counts *c;

	if (!s)
		return 0;
	c = &s->lane.counts;
	gap = c->last ? start - c->last : 0;
	c->last = start;
	look_back(c, s->lane.tick_ns, start, gap);
	if (pid == 0 && is_idle(ctx)) {
		c->n[COUNT_IDLE]++;
	} else if (!is_wanted(pid, tid)) {
		c->n[COUNT_FILTERED]++;
	} else if (s->busy) {
		c->n[COUNT_NESTED]++;
	} else {
		s->busy = 1;
		s->head.time = start;
		s->head.cgroup = want_cgroup ? bpf_get_current_cgroup_id() : 0;
		s->head.weight = want_weight ? ctx->sample_period : gap;
		s->head.cpu = bpf_get_smp_processor_id();
		s->head.pid = pid;
		s->head.tid = tid;
		if (take(ctx, s) == COUNT_EMITTED)
			c->n[COUNT_EMITTED]++;
		else
			c->n[COUNT_RING_FULL]++;
		s->busy = 0;
	}
	c->n[COUNT_RUN_NS] += bpf_ktime_get_ns() - start;
	c->n[COUNT_RUNS]++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
