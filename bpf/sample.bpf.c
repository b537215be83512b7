/*
 * The sampling program: writes the stacks of the interrupted task into the per-CPU ring, and nothing else.
 *
 * No stack map, no symbol: a sample costs the host a few us (make bench), mostly for reading the stacks.
 * Waking the reader at each sample would cost as much again, so the reader wakes by the amount of data and by
 * its own timer.
 *
 * The user stack is walked by tables (unwind.bpf.h). If a file is not known yet, the sample carries the
 * registers and a piece of the stack, and user space continues from there. So only files that samples meet get
 * a table. The mappings of a new process are read in the kernel (mm/vma.bpf.h); where that is not possible,
 * its samples carry their stack, too, until user space has published it.
 *
 * The walk is most of what the verifier has to follow. It is a program of its own, which a tail call reaches
 * once it is loaded. Until then user space makes each walk, as if no process were known.
 *
 * No CO-RE relocation here: this object must load on kernels without BTF.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define WALK_BY_VMA

#include "bpf/calls.bpf.h"
#include "bpf/mm/kernel.bpf.h"
#include "bpf/percpu.bpf.h"
#include "bpf/latency/parallel.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/wanted.bpf.h"

/* Set before loading; the verifier drops the code they disable. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int want_user = 1, want_kernel = 1;
const volatile unsigned int want_weight = 0, want_cgroup = 1;
/* Addresses where the idle loop waits: a tick of pid 0 there found the CPU idle, elsewhere at work. */
const volatile unsigned long idle_start[2] = { 0, 0 }, idle_end[2] = { 0, 0 };
const volatile unsigned int want_outside = 0;    /* ticks of other tasks, too, without stacks */
const volatile unsigned int always_copy = 0;     /* to check the walked stacks */
const volatile unsigned int regs_by = REGS_BY_HELPER;
const volatile unsigned int task_stack_at = 0;   /* REGS_BY_STACK: offset of task_struct.stack */

const volatile unsigned int looks_back = 0;      /* other programs may keep this one from running */

const volatile unsigned int has_calls = 0;       /* the map calls can be used */

/* Offsets: of the file in struct linux_binprm, then of its dentry and of that one's name. 0: not known */
const volatile unsigned int file_at = 0, dentry_at = 0, name_at = 0;

/* Processes of interpreted languages were met: the programs of lang_tick.bpf.c are in the map calls. */
unsigned int lang_on SEC(".data") = 0;

/* Nothing has happened for a while: the reader looks only once a second. */
unsigned int reader_rests SEC(".data") = 0;

enum {
	ON_TIME_SHARE = 16,  /* a tick is on time within this fraction of a period, ... */
	ON_TIME = 100000,    /* ... and within this many ns */
	KEPT_OUT_MOST = 100, /* consecutive ticks; with more, the machine was suspended */
	KERNEL_STACK = 16 << 10, /* THREAD_SIZE of x86-64 */
	KERNEL_STACK_PADDING = 16, /* above the registers, from 6.9 on if built for FRED */
};

static __always_inline int is_idle(struct bpf_perf_event_data *ctx)
{
	unsigned long ip = PT_REGS_IP(&ctx->regs);

	return (ip >= idle_start[0] && ip < idle_end[0]) || (ip >= idle_start[1] && ip < idle_end[1]);
}

#if defined(__TARGET_ARCH_x86)
/* Returns the address of the user registers saved at kernel entry; 0: there is none. */
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

/* Returns 0 if there is no user stack, or if it belongs to 32-bit code. */
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

/* Adds the state from which user space continues the walk; to check a whole walk, the state of the leaf. */
static __always_inline void defer_walk(struct bpf_perf_event_data *ctx, struct scratch *s)
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

/* Takes the first frame alone, as a walk does that knows no mapping. Returns true: user space knows more. */
static __always_inline int take_leaf(struct scratch *s)
{
	unsigned long long *leaf;
	unsigned int at = s->n;

	if (at > ADDRESSES - 8)
		return 0;
	s->walk.unchecked = 0;
	s->vma.unknown = 0;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
	leaf = (unsigned long long *)(my_data(s) + (at & (ADDRESSES - 8)));
	*leaf = s->walk.regs[UNWIND_RIP] | SAMPLE_EXACT;
	s->n = at + 8;
	s->head.user_n = 1;
	s->head.user_end = WALK_NO_MAPPING;
	return 1;
}

/* Completes a sample whose stack was walked. asks: user space may know more. */
static __always_inline void keep_walk(struct bpf_perf_event_data *ctx, struct scratch *s, int asks)
{
	s->head.user_by = SAMPLE_BY_TABLE;
	if (s->head.user_n == 0 || (!asks && !always_copy))
		return;
	if (!may_copy(s)) {
		if (asks)
			s->head.user_end = WALK_COPY;
		return;
	}
	s->head.deferred = asks;
	defer_walk(ctx, s);
}

/* apart: the walk is a program of its own. */
static __always_inline void take_by_table(struct bpf_perf_event_data *ctx, struct scratch *s, int apart)
{
	if (!user_regs(ctx, s))
		return;
	if (apart)
		bpf_tail_call(ctx, &calls, CALL_WALK); /* ends in finish, unless it is not loaded yet */
	keep_walk(ctx, s, apart ? take_leaf(s) : walk_user(ctx, s, s->head.pid));
}
#endif

static __always_inline void take_stacks(struct bpf_perf_event_data *ctx, struct scratch *s, int apart)
{
	s->head.kernel_n = s->head.user_n = 0;
	s->head.generation = s->head.stack_n = 0;
	s->head.user_by = s->head.user_end = s->head.has_state = s->head.deferred = 0;
	s->head.lang_n = 0;
	s->n = 0;
	if (want_kernel && !from_user(ctx))
		s->n += fp_stack(ctx, s, 0, &s->head.kernel_n);
#if defined(__TARGET_ARCH_x86)
	if (want_user && by_table)
		take_by_table(ctx, s, apart);
#else
	(void)apart; /* there is no walk by tables */
#endif
	if (want_user && s->head.user_by == SAMPLE_BY_FP)
		s->n += fp_stack(ctx, s, BPF_F_USER_STACK, &s->head.user_n);
}

/* Hands the sample to the reader, and counts it. */
static __always_inline void finish_sample(struct scratch *s)
{
	unsigned long long start = s->head.time;
	struct sample_counts *c = &s->ring.counts;

	commit_sample(s, s->n + (s->head.has_state ? (s->head.stack_n + 7) & -8u : 0) + s->head.lang_n * 8);
	/* A resting reader is woken at once for a process or a file that may be new to it. */
	wake_reader(s, by_table && reader_rests && s->head.user_by == SAMPLE_BY_TABLE &&
			       (s->head.deferred || !s->head.generation));
	c->n[COUNT_EMITTED]++;
	s->busy = 0;
	c->n[COUNT_RUN_NS] += bpf_ktime_get_ns() - start;
	c->n[COUNT_RUNS]++;
}

/*
 * The kernel does not report a tick that it takes while another program runs on the CPU. But ticks are on a
 * grid, because perf's timer advances by whole periods. If some are missing and the next is on time, the
 * timer worked all the while, and this program was kept out. If the CPU was suspended, or took no interrupts,
 * the next tick is late: it comes when that ends. Late by nearly a period looks like on time, until another
 * tick comes at once. If a sleeping CPU has no ticks, the first one after the sleep may be on time as well:
 * user space knows how long it slept.
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
		c->grid = now; /* one period after another: this is the grid, wherever it was before */
		c->period = period;
	} else if (after < 2 * near) {
		if (n > 1 && n <= KEPT_OUT_MOST)
			c->kept_out = n - 1;
		c->grid = now;
	} else {
		c->grid += n * period;
	}
}

/*
 * Bits by enum lang_kind:
 * interpreters whose executables wake the reader, because none of them is known yet.
 */
unsigned int lang_unmet SEC(".data") = 0;

/* Is it, by the first bytes of its name, an interpreter? Returns a bit by enum lang_kind, or 0. */
static __always_inline unsigned int interpreter_bit(unsigned int name)
{
	if (name == 0x68747970) /* "pyth" */
		return 1 << LANG_PYTHON;
	if (name == 0x79627572) /* "ruby" */
		return 1 << LANG_RUBY;
	if ((name & 0xffffff) == 0x706870) /* "php" */
		return 1 << LANG_PHP;
	if (name == 0x65646f6e) /* "node" */
		return 1 << LANG_JAVASCRIPT;
	return name == 0x6c726570 ? 1 << LANG_PERL : 0; /* "perl" */
}

/*
 * Returns the first bytes of the executed file's name, without following links. A process that runs a script
 * has the script's name, and its file is the interpreter.
 */
static __always_inline unsigned int name_of_file(unsigned long program)
{
	unsigned long at = name_at ? kernel64(program + file_at) : 0;
	unsigned int name = 0;

	at = at ? kernel64(at + dentry_at) : 0;
	at = at ? kernel64(at + name_at) : 0;
	return at && bpf_probe_read_kernel(&name, sizeof(name), (const void *)at) == 0 ? name : 0;
}

/* Does the process begin an interpreter that is not known yet? program: struct linux_binprm */
static __always_inline int begins_unmet(unsigned long program)
{
	unsigned int name[4] = { 0 };

	if (bpf_get_current_comm(name, sizeof(name)) == 0 && (lang_unmet & interpreter_bit(name[0])))
		return 1;
	return lang_unmet & interpreter_bit(name_of_file(program));
}

/* A new image: everything known of the process is out of date. */
SEC("raw_tracepoint/sched_process_exec")
int forget(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;
	unsigned long long word = WAKE_INTERPRETER;

	if (bpf_map_delete_elem(&spaces, &pid) == 0)
		count_change();
	if (has_calls && lang_unmet && begins_unmet(ctx->args[2]))
		bpf_ringbuf_output(&waker, &word, sizeof(word), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* A task that is not to be recorded has the CPU. Others may be in the queue for it. */
static __always_inline void note_outside(struct scratch *s, unsigned int pid, unsigned int tid,
					 unsigned long long now)
{
	if (s->busy || !has_room(s))
		return;
	s->head = (struct sample_head){
		.time = now,
		.cgroup = want_cgroup ? bpf_get_current_cgroup_id() : 0,
		.owner = current_owner(),
		.cpu = bpf_get_smp_processor_id(),
		.pid = pid,
		.tid = tid,
		.what = SAMPLE_OUTSIDE,
	};
	commit_sample(s, 0);
	wake_reader(s, 0);
	s->head.what = SAMPLE_TICK;
}

static __always_inline void take_parallel(struct scratch *s, unsigned int pid)
{
	unsigned int counted = 0;

	if (parallel_cpus && (parallel_each < 2 || s->ring.counts.n[COUNT_RUNS] % parallel_each == 0))
		counted = (unsigned int)count_parallel(pid);
	s->head.running = counted & 0xffff;
	s->head.group_running = counted >> 16;
}

static __always_inline int take_tick(struct bpf_perf_event_data *ctx, int apart)
{
	unsigned long long start = bpf_ktime_get_ns(), gap, id = bpf_get_current_pid_tgid();
	unsigned int pid = id >> 32, tid = (unsigned int)id;
	struct scratch *s = my_scratch();
	struct sample_counts *c;

	if (!s)
		return 0;
	c = &s->ring.counts;
	gap = c->last ? start - c->last : 0;
	c->last = start;
	look_back(c, s->ring.tick_ns, start, gap);
	if (pid == 0 && is_idle(ctx)) {
		c->n[COUNT_IDLE]++;
	} else if (!is_wanted(pid, tid)) {
		c->n[COUNT_FILTERED]++;
		if (want_outside)
			note_outside(s, pid, tid, start);
	} else if (s->busy) {
		c->n[COUNT_NESTED]++;
	} else if (!has_room(s)) {
		c->n[COUNT_RING_FULL]++;
	} else {
		s->busy = 1;
		s->head.time = start;
		s->head.cgroup = want_cgroup ? bpf_get_current_cgroup_id() : 0;
		s->head.owner = current_owner();
		s->head.weight = want_weight ? ctx->sample_period : gap;
		s->head.cpu = bpf_get_smp_processor_id();
		s->head.pid = pid;
		s->head.tid = tid;
		take_parallel(s, pid);
		take_stacks(ctx, s, apart);
		if (has_calls && lang_on && s->head.user_n > 0)
			bpf_tail_call(ctx, &calls, CALL_FIND); /* ends in finish, unless it fails */
		finish_sample(s);
		return 0;
	}
	c->n[COUNT_RUN_NS] += bpf_ktime_get_ns() - start;
	c->n[COUNT_RUNS]++;
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	return take_tick(ctx, 1);
}

#if defined(__TARGET_ARCH_x86)
/* The same for kernels without tail calls beside functions. */
SEC("perf_event")
int sample_whole(struct bpf_perf_event_data *ctx)
{
	return take_tick(ctx, 0);
}

/* The walk by tables of a tick, from the registers that sample has taken. */
SEC("perf_event")
int walk_stack(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = my_scratch();

	if (!s || !s->busy)
		return 0;
	keep_walk(ctx, s, walk_user(ctx, s, s->head.pid));
	if (s->head.user_n > 0)
		bpf_tail_call(ctx, &calls, CALL_FIND); /* not loaded unless processes of languages were met */
	bpf_tail_call(ctx, &calls, CALL_FINISH);
	return 0;
}
#endif

/* The end of a sample that another program has completed. */
SEC("perf_event")
int finish(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = my_scratch();

	(void)ctx;
	if (s && s->busy)
		finish_sample(s);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
