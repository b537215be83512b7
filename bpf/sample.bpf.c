/*
 * The sampling program: the stacks of what was interrupted, into the ring, and nothing else.
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

#include "bpf/sample.h"
#include "bpf/unwind.h"

/* Set before loading; the verifier drops what they switch off. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int depth = 127;
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int filter_pids = 0, filter_tids = 0, filter_groups = 0;
const volatile unsigned int want_weight = 0, want_cgroup = 1;
const volatile unsigned int may_wake = 1; /* not where the reader's timer is sure to be in time */
/* Where the idle loop waits: a tick of pid 0 there found the CPU idle; elsewhere it does real work. */
const volatile unsigned long idle_start[2] = { 0, 0 }, idle_end[2] = { 0, 0 };

/* Of the user stack. */
const volatile unsigned int by_table = 0;
const volatile unsigned int user_depth = 512;    /* of a walk by tables */
const volatile unsigned int stack_limit = 16384; /* bytes that go along */
const volatile unsigned int always_copy = 0;     /* for a check of what was walked */
const volatile unsigned int ring_bytes = 1 << 20;
const volatile unsigned int regs_by = REGS_BY_HELPER;
const volatile unsigned int task_stack_at = 0;   /* REGS_BY_STACK: offset of task_struct.stack */

enum {
	KERNEL_STACK = 16 << 10, /* THREAD_SIZE of x86-64 */
	KERNEL_STACK_PADDING = 16, /* above the registers, from 6.9 on where it is built for FRED */
	ADDRESSES = 2 * 1024 * 8, /* bytes; more than two stacks of SAMPLE_DEPTH_MAX */
	PIECE = 1024,             /* of a stack */
	USER_CS = 0x33,           /* arch/x86/include/asm/segment.h: 64-bit user code */
};

/* What a CPU is busy with. The map's values end where the copy of the stack does. */
struct scratch {
	struct walk walk;
	struct window window;
	struct unwind_found found[UNWIND_FOUND];
	unsigned int busy;
	unsigned int n; /* bytes of data */
	struct sample_head head;
	unsigned char data[ADDRESSES + sizeof(struct sample_state) + SAMPLE_STACK_MAX];
};

/* By CPU. Not a per-CPU array: the values of one can have 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct sample_counts);
} counts SEC(".maps");

/* Resized before loading. Preallocated: below 6.1 a perf_event program may use no other hash map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} wanted SEC(".maps");

/* Control groups, of version 2, whose tasks are wanted and those of the groups below them. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

static __always_inline int is_idle(struct bpf_perf_event_data *ctx)
{
	unsigned long ip = PT_REGS_IP(&ctx->regs);

	return (ip >= idle_start[0] && ip < idle_end[0]) || (ip >= idle_start[1] && ip < idle_end[1]);
}

static __always_inline int in_group(void)
{
	for (unsigned int i = 0; i < SAMPLE_GROUPS_MAX && i < filter_groups; i++) {
		if (bpf_current_task_under_cgroup(&groups, i) == 1)
			return 1;
	}
	return 0;
}

static __always_inline int is_wanted(unsigned int pid, unsigned int tid)
{
	if (filter_groups && !in_group())
		return 0;
	if (filter_pids)
		return bpf_map_lookup_elem(&wanted, &pid) != NULL;
	if (filter_tids)
		return bpf_map_lookup_elem(&wanted, &tid) != NULL;
	return 1;
}

/* Was user code interrupted? Then there is no kernel stack to ask for. */
static __always_inline int from_user(struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return ctx->regs.cs & 3;
#elif defined(__TARGET_ARCH_arm64)
	return (ctx->regs.pstate & 0xf) == 0;
#else
	return 0;
#endif
}

static __always_inline struct scratch *my_scratch(void)
{
	unsigned int cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

static __always_inline struct walk *walk_state(WALK_ENV *env)
{
	struct scratch *s = my_scratch();

	use(env);
	return s ? &s->walk : NULL;
}

static __always_inline struct unwind_found *walk_found(WALK_ENV *env)
{
	struct scratch *s = my_scratch();

	use(env);
	return s ? s->found : NULL;
}

static __always_inline struct window *walk_window(void)
{
	struct scratch *s = my_scratch();

	return s ? &s->window : NULL;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline void take_regs(struct walk *w, const struct pt_regs *r)
{
	w->regs[0] = r->rax;
	w->regs[1] = r->rdx;
	w->regs[2] = r->rcx;
	w->regs[3] = r->rbx;
	w->regs[4] = r->rsi;
	w->regs[5] = r->rdi;
	w->regs[6] = r->rbp;
	w->regs[7] = r->rsp;
	w->regs[8] = r->r8;
	w->regs[9] = r->r9;
	w->regs[10] = r->r10;
	w->regs[11] = r->r11;
	w->regs[12] = r->r12;
	w->regs[13] = r->r13;
	w->regs[14] = r->r14;
	w->regs[15] = r->r15;
	w->regs[16] = r->rip;
}

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
static __always_inline int user_regs(struct bpf_perf_event_data *ctx, struct walk *w)
{
	struct pt_regs regs = {};
	unsigned long saved;

	if (from_user(ctx)) {
		take_regs(w, &ctx->regs);
		return ctx->regs.cs == USER_CS;
	}
	saved = kernel_saved(ctx);
	if (!saved || bpf_probe_read_kernel(&regs, sizeof(regs), (void *)saved))
		return 0;
	if (regs_by != REGS_BY_HELPER && regs.cs != USER_CS)
		bpf_probe_read_kernel(&regs, sizeof(regs), (void *)(saved - KERNEL_STACK_PADDING));
	if (regs.cs != USER_CS)
		return 0;
	take_regs(w, &regs);
	return regs.rip != 0;
}

/* The present frame's address behind the others, and one step. Verified once, not once a frame. */
__attribute__((noinline)) int walk_frame(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = my_scratch();
	unsigned int at;

	if (!s)
		return WALK_DEPTH;
	at = s->n;
	if (at > ADDRESSES - 8 || s->head.user_n >= (short)user_depth)
		return WALK_DEPTH;
	*(unsigned long long *)(s->data + (at & (ADDRESSES - 8))) =
		s->walk.regs[UNWIND_RIP] | (s->walk.exact ? SAMPLE_EXACT : 0);
	s->n = at + 8;
	s->head.user_n++;
	return walk_step(ctx);
}

static __always_inline void push_state(struct scratch *s, unsigned int frame)
{
	struct sample_state *to;
	unsigned int at = s->n;

	if (at > ADDRESSES)
		return;
	to = (struct sample_state *)(s->data + at);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		to->regs[i] = s->walk.regs[i];
	to->at = frame;
	to->exact = s->walk.exact;
	to->inner = s->walk.inner;
	to->bx_known = s->walk.bx_known;
	to->pad = 0;
	s->n = at + sizeof(*to);
	s->head.has_state = 1;
}

/*
 * As much of the stack as is there, in pieces; the last one up to the end of its page, as pages that are
 * not in memory cannot be read.
 */
__attribute__((noinline)) int copy_stack(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = my_scratch();
	unsigned int done, rest, at;
	unsigned long sp;

	use(ctx);
	if (!s || s->n > ADDRESSES + sizeof(struct sample_state))
		return 0;
	at = s->n;
	sp = s->walk.regs[UNWIND_RSP];
	for (done = 0; done < SAMPLE_STACK_MAX && done < stack_limit; done += PIECE) {
		if (bpf_probe_read_user(s->data + at + done, PIECE, (const void *)(sp + done)) == 0)
			continue;
		rest = -(sp + done) & (PIECE - 1);
		if (bpf_probe_read_user(s->data + at + done, rest, (const void *)(sp + done)) == 0)
			s->head.stack_n = done + rest;
		else
			s->head.stack_n = done;
		return 0;
	}
	s->head.stack_n = done;
	return 0;
}

/* Is there room for a stack in the ring? A sample without one is better than none. */
static __always_inline int may_copy(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < ring_bytes / 2;
}

static __always_inline void begin_walk(struct scratch *s, unsigned int pid)
{
	struct unwind_space *space = bpf_map_lookup_elem(&spaces, &pid);

	s->walk.end = s->walk.start = 0;
	s->window.n = 0;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
	if (space)
		s->walk.space = *space;
	else
		s->walk.space.n = s->walk.space.generation = 0;
	s->head.generation = s->walk.space.generation;
}

/* The user stack by tables. Is there something that user space may know more about? */
static __always_inline int walk_user(struct bpf_perf_event_data *ctx, struct scratch *s, unsigned int pid)
{
	int end = WALK_DEPTH;

	begin_walk(s, pid);
	for (int i = 0; i < SAMPLE_DEPTH_MAX + 1; i++) {
		end = walk_frame(ctx);
		if (end != WALK_ON)
			break;
	}
	s->head.user_end = (unsigned char)end;
	return end == WALK_ASK || end == WALK_NO_MAPPING || (end & WALK_UNSURE);
}
#endif

/* The innermost stack, by frame pointers; bytes, or 0 and the error in n. */
static __always_inline unsigned long long fp_stack(struct bpf_perf_event_data *ctx, struct scratch *s,
						   unsigned long long flags, short *n)
{
	unsigned int at = s->n;
	long got;

	if (at > SAMPLE_DEPTH_MAX * 8) /* for the verifier */
		at = 0;
	got = bpf_get_stack(ctx, s->data + at, depth * 8, flags);
	if (got < 0)
		*n = (short)got;
	else if (got <= SAMPLE_DEPTH_MAX * 8)
		*n = (short)(got / 8);
	return got > 0 && got <= SAMPLE_DEPTH_MAX * 8 ? got : 0;
}

#if defined(__TARGET_ARCH_x86)
/* What user space needs to go on. For a check of the whole walk it is the leaf's state. */
static __always_inline void defer(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	unsigned int at = s->head.user_n ? s->head.user_n - 1 : 0;

	if (always_copy) {
		user_regs(ctx, &s->walk);
		s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
		at = 0;
	}
	push_state(s, at);
	copy_stack(ctx);
}

static __always_inline void take_by_table(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	int asks;

	if (!user_regs(ctx, &s->walk))
		return;
	asks = walk_user(ctx, s, s->head.pid);
	s->head.user_by = SAMPLE_BY_TABLE;
	if (s->head.user_n == 0 || (!asks && !always_copy))
		return;
	if (!may_copy()) {
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
	unsigned long long wake = BPF_RB_NO_WAKEUP;
	unsigned long long bytes;

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
	bytes = sizeof(s->head) + s->n;
	if (s->head.has_state)
		bytes += s->head.stack_n;
	if (bytes > sizeof(s->head) + ADDRESSES + sizeof(struct sample_state) + stack_limit)
		return COUNT_RING_FULL; /* cannot be; for the verifier */
	if (may_wake && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > SAMPLE_WAKE_BYTES)
		wake = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(&ring, &s->head, bytes, wake) ? COUNT_RING_FULL : COUNT_EMITTED;
}

/* A new image: what is known of the process is not true any more. */
SEC("raw_tracepoint/sched_process_exec")
int forget(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;

	(void)ctx;
	bpf_map_delete_elem(&spaces, &pid);
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	unsigned long long start = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	unsigned int pid = id >> 32, tid = (unsigned int)id, zero = 0;
	struct scratch *s = my_scratch();
	struct sample_counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (!s || !c)
		return 0;
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
		s->head.weight = want_weight ? ctx->sample_period : 0;
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
