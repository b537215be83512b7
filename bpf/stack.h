/*
 * Taking stacks: what the programs that do so have in common. Each has maps of its own to work in (scratches, ring);
 * those of unwind.h are the sampling object's, lent to the others.
 *
 * Who includes this fills the registers of the walk itself, for where they are differs.
 */
#ifndef CPROF_BPF_STACK_H
#define CPROF_BPF_STACK_H

#include <linux/bpf_perf_event.h>

#include "bpf/sample.h"
#include "bpf/unwind.h"

/* Set before loading; the verifier drops what they switch off. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int depth = 127;         /* as far as the kernel follows chains */
const volatile unsigned int by_table = 0;
const volatile unsigned int user_depth = 512;    /* of a walk by tables */
const volatile unsigned int stack_limit = 16384; /* bytes that go along */
const volatile unsigned int ring_bytes = 1 << 20;

enum {
	ADDRESSES = 2 * 1024 * 8, /* bytes; more than two stacks of SAMPLE_DEPTH_MAX */
	PIECE = 1024,             /* of a stack */
	USER_CS = 0x33,           /* arch/x86/include/asm/segment.h: 64-bit user code */
};

/*
 * What a CPU is busy with. What each sample touches stands together, from the last page of memory on: at 99 Hz each
 * page is one that the CPU has to look up. The map's values end where the copy of the stack does.
 */
struct scratch {
	struct unwind_memory memory;
	struct sample_counts counts;
	unsigned int busy;
	unsigned int n; /* bytes of data */
	unsigned long long woken; /* where in the ring the reader was, plus 1, when this CPU woke it */
	struct walk walk;
	struct window window;
	struct sample_head head;
	unsigned char data[ADDRESSES + sizeof(struct sample_state) + SAMPLE_STACK_MAX];
} __attribute__((aligned(4096)));

/* By CPU. Not a per-CPU array: the values of one can have 32 KiB. Mapped by user space, for the counts; and so begins with a page. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

static __always_inline struct scratch *my_scratch(void)
{
	unsigned int cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

/* When the reader is woken, which costs several times what a sample does. */
enum waking { WAKE_NEVER, WAKE_FOR_MUCH, WAKE_AT_ONCE };

/* Into the ring. Who was woken is not again before he has taken something: on a busy machine it can be long till he runs. */
static __always_inline long put(const void *data, unsigned long long bytes, enum waking wakes)
{
	struct scratch *s = my_scratch();
	unsigned long long reader = 0;
	long failed;

	if (wakes && s && (wakes == WAKE_AT_ONCE || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > SAMPLE_WAKE_BYTES)) {
		reader = bpf_ringbuf_query(&ring, BPF_RB_CONS_POS) + 1;
		if (reader == s->woken)
			reader = 0;
	}
	failed = bpf_ringbuf_output(&ring, (void *)data, bytes, reader ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	if (s && reader && !failed)
		s->woken = reader;
	return failed;
}

static __always_inline struct walk *walk_state(WALK_ENV *env)
{
	struct scratch *s = my_scratch();

	use(env);
	return s ? &s->walk : NULL;
}

static __always_inline struct unwind_memory *walk_memory(WALK_ENV *env)
{
	struct scratch *s = my_scratch();

	use(env);
	return s ? &s->memory : NULL;
}

static __always_inline struct window *walk_window(void)
{
	struct scratch *s = my_scratch();

	return s ? &s->window : NULL;
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

/* The present frame's address behind the others, and one step. Verified once, not once a frame. */
__attribute__((noinline)) int walk_frame(WALK_ENV *env)
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
	return walk_step(env);
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
__attribute__((noinline)) int copy_stack(WALK_ENV *env)
{
	struct scratch *s = my_scratch();
	unsigned int done, rest, at;
	unsigned long sp;

	use(env);
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

/* The mappings of a process; none, where they are not known. */
static __always_inline void find_space(WALK_ENV *env, struct scratch *s, unsigned int pid)
{
	struct unwind_met *met = &s->memory.spaces[pid & (UNWIND_SPACES - 1)];
	unsigned int changes = walk_changes(env);
	struct unwind_space *space;

	if (changes && met->changes == changes && met->pid == pid) {
		s->walk.space = met->space;
		return;
	}
	space = bpf_map_lookup_elem(&spaces, &pid);
	if (!space) {
		s->walk.space.n = s->walk.space.generation = 0;
		return;
	}
	s->walk.space = *space;
	met->space = s->walk.space;
	met->pid = pid;
	met->changes = changes;
}

static __always_inline void begin_walk(WALK_ENV *env, struct scratch *s, unsigned int pid)
{
	s->walk.end = s->walk.start = 0;
	s->window.n = 0;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
	find_space(env, s, pid);
	s->head.generation = s->walk.space.generation;
}

/* The user stack by tables. Is there something that user space may know more about? */
static __always_inline int walk_user(WALK_ENV *env, struct scratch *s, unsigned int pid)
{
	int end = WALK_DEPTH;

	begin_walk(env, s, pid);
	for (int i = 0; i < SAMPLE_DEPTH_MAX + 1; i++) {
		end = walk_frame(env);
		if (end != WALK_ON)
			break;
	}
	s->head.user_end = (unsigned char)end;
	return end == WALK_ASK || end == WALK_NO_MAPPING || (end & WALK_UNSURE);
}
#endif

/* The innermost stack of so many addresses at most, by frame pointers; bytes, or 0 and the error in n. */
static __always_inline unsigned long long fp_stack_of(void *ctx, struct scratch *s, unsigned long long flags, short *n,
						      unsigned int most)
{
	unsigned int at = s->n;
	long got;

	if (at > SAMPLE_DEPTH_MAX * 8) /* for the verifier */
		at = 0;
	got = bpf_get_stack(ctx, s->data + at, most * 8, flags);
	if (got < 0)
		*n = (short)got;
	else if (got <= SAMPLE_DEPTH_MAX * 8)
		*n = (short)(got / 8);
	return got > 0 && got <= SAMPLE_DEPTH_MAX * 8 ? got : 0;
}

static __always_inline unsigned long long fp_stack(void *ctx, struct scratch *s,
						   unsigned long long flags, short *n)
{
	return fp_stack_of(ctx, s, flags, n, depth);
}

#endif
