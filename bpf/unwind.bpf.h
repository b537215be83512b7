/*
 * Takes stacks: the code that all sampling programs share. Each program has working maps of its own, those of
 * percpu.bpf.h or of event_ring.bpf.h, one of which is included before. The maps of walk_maps.bpf.h belong to
 * the sampling object, which lends them to the others.
 *
 * One step is in common/walk/walk.h.
 *
 * The includer fills the registers of the walk itself, because their location differs.
 */
#ifndef CPROF_BPF_UNWIND_H
#define CPROF_BPF_UNWIND_H

#include <linux/bpf_perf_event.h>

#include "bpf/scratch.h"
#ifdef WALK_BY_VMA
#include "bpf/mm/vma.bpf.h"
#endif

/* Set before loading; the verifier drops the code they disable. `unsigned int`, not u32: the skeleton. */
const volatile unsigned int depth = 127;         /* addresses of the kernel's own chains, at most */
const volatile unsigned int by_table = 0;
const volatile unsigned int user_depth = 512;    /* addresses of a walk by tables, at most */
const volatile unsigned int stack_limit = 16384; /* bytes of the stack that a sample carries */

enum { QUICK_STEPS = 4, WALK_ROUNDS = 32, PIECES = 8 }; /* in one call */

/* Hides a pointer: otherwise the compiler adds to it before comparing it with NULL, which 5.10 refuses. */
static __always_inline struct scratch *opaque_scratch(struct scratch *s)
{
	asm volatile("" : "+r"(s));
	return s;
}

/* Defined by percpu.bpf.h or event_ring.bpf.h. */
static __always_inline struct scratch *my_scratch(void);

static __always_inline struct walk *walk_state(WALK_ENV env)
{
	struct scratch *s = my_scratch();

	use_env(env);
	return s ? &opaque_scratch(s)->walk : NULL;
}

static __always_inline struct unwind_memory *walk_memory(WALK_ENV env)
{
	struct scratch *s = my_scratch();

	use_env(env);
	return s ? &opaque_scratch(s)->memory : NULL;
}

static __always_inline struct window *walk_window(void)
{
	struct scratch *s = my_scratch();

	return s ? &opaque_scratch(s)->window : NULL;
}

/* Was user code interrupted? Then there is no kernel stack. */
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

/*
 * Takes the registers that the kernel saved at `saved`. Returns 0 if they do not belong to 64-bit user code.
 * They are read into the memory of the window: on the program's own stack they would leave a walk too little
 * of its 512 bytes.
 */
static __always_inline int read_regs(struct scratch *s, unsigned long saved)
{
	struct pt_regs *regs = (struct pt_regs *)s->window.bytes;

	s->window.n = 0;
	if (bpf_probe_read_kernel(regs, sizeof(*regs), (void *)saved) || regs->cs != USER_CS)
		return 0;
	take_regs(&s->walk, regs);
	return regs->rip != 0;
}

/* Appends the current frame and makes a quick step, QUICK_STEPS times. WALK_SLOWLY: one step is left. */
WALK_FN int walk_frames(WALK_ENV env)
{
	struct scratch *s = my_scratch();
	int end = WALK_ON, n, most = (int)user_depth;
	struct window *window;
	unsigned char *data;
	unsigned int at;
	struct quick q;

	use_env(env);
	if (!s)
		return WALK_DEPTH;
	window = &s->window;
	asm volatile("" : "+r"(window)); /* otherwise each member is addressed from s on */
	data = my_data(s);
	q = quick_begin(&s->walk);
	at = s->n;
	n = s->head.user_n;
	for (int i = 0; i < QUICK_STEPS && end == WALK_ON; i++) {
		if (at > ADDRESSES - 8 || n >= most) {
			end = WALK_DEPTH;
			break;
		}
		*(unsigned long long *)(data + (at & (ADDRESSES - 8))) = q.ip | (unsigned long long)q.exact << 63; /* SAMPLE_EXACT */
		at += 8;
		n++;
		end = quick_step(env, &q, &s->memory, window);
	}
	quick_end(&q, &s->walk);
	s->n = at;
	s->head.user_n = (short)n;
	return end;
}

/* Makes a step of any kind. Verified once, not once a frame. */
WALK_FN int walk_slowly(WALK_ENV env)
{
	return walk_step(env);
}

/* Rounds of quick steps and one of any kind. A function, because the verifier follows each turn of a loop. */
WALK_FN int walk_rounds(WALK_ENV env)
{
	int end = WALK_DEPTH;

	for (int i = 0; i < WALK_ROUNDS; i++) {
		end = walk_frames(env);
		if (end == WALK_SLOWLY)
			end = walk_slowly(env);
		if (end != WALK_ON)
			break;
	}
	return end;
}

/* Walks from the state to the end of the stack. */
WALK_FN int walk_up(WALK_ENV env)
{
	int end = WALK_DEPTH;

	for (int i = 0; i < SAMPLE_DEPTH_MAX / WALK_ROUNDS + 1; i++) {
		end = walk_rounds(env);
		if (end != WALK_ON)
			break;
	}
	return end;
}

static __always_inline void push_state(struct scratch *s, unsigned int frame)
{
	struct sample_state *to;
	unsigned int at = s->n;

	if (at > ADDRESSES)
		return;
	to = (struct sample_state *)(my_data(s) + at);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		to->regs[i] = s->walk.regs[i];
	to->at = frame;
	to->exact = s->walk.exact;
	to->inner = s->walk.inner;
	to->bx_known = s->walk.bx_known;
	to->unchecked = s->walk.unchecked;
	to->unknown = s->vma.found;
	if (!s->vma.unknown)
		to->unknown.id.inode = 0;
	s->n = at + sizeof(*to);
	s->head.has_state = 1;
}

/* Copies the piece of the stack that begins `done` bytes above rsp. Returns how much of it was readable. */
WALK_FN int copy_piece(WALK_ENV env, unsigned int done)
{
	struct scratch *s = my_scratch();
	unsigned int rest, at;
	unsigned char *to;
	const void *from;

	use_env(env);
	/* The map has room for stack_limit bytes; the mask shows the verifier that the piece ends there. */
	if (!s || done >= stack_limit)
		return 0;
	done &= -PIECE;
	at = s->n;
	if (at > ADDRESSES + sizeof(struct sample_state))
		return 0;
	to = my_data(s) + at + done;
	from = (const void *)(s->walk.regs[UNWIND_RSP] + done);
	if (bpf_probe_read_user(to, PIECE, from) == 0)
		return PIECE;
	rest = -(unsigned long)from & (PIECE - 1);
	return bpf_probe_read_user(to, rest, from) == 0 ? rest : 0;
}

/*
 * Copies PIECES pieces. Returns how much was readable. This loop and the next are unrolled: at each turn of a
 * loop, the verifier goes back through all turns before it for the values that an address depends on.
 */
WALK_FN int copy_pieces(WALK_ENV env, unsigned int done)
{
	int got;

#pragma unroll
	for (int i = 0; i < PIECES; i++) {
		got = copy_piece(env, done + i * PIECE);
		if (got != PIECE)
			return i * PIECE + got;
	}
	return PIECES * PIECE;
}

/*
 * Copies as much of the stack as is readable, in pieces. The last piece goes up to the end of its page,
 * because pages that are not in memory cannot be read.
 */
WALK_FN int copy_stack(WALK_ENV env)
{
	struct scratch *s;
	int done = 0, got;

#pragma unroll
	for (int i = 0; i < SAMPLE_STACK_MAX / PIECE / PIECES; i++) {
		got = copy_pieces(env, i * PIECES * PIECE);
		done = i * PIECES * PIECE + got;
		if (got != PIECES * PIECE)
			break;
	}
	s = my_scratch();
	if (s)
		s->head.stack_n = done;
	return 0;
}

/* The mappings of a process that was not published: none, or those that the kernel has. */
static __always_inline struct unwind_space unknown_space(struct scratch *s)
{
	struct unwind_space space = { 0, 0, 0, 0 };

#ifdef WALK_BY_VMA
	if (vma_at[VMA_MM])
		space.generation = UNWIND_LIVE | ++s->memory.lives;
#else
	(void)s;
#endif
	return space;
}

/* Finds the mappings of a process. */
static __always_inline void find_space(WALK_ENV env, struct scratch *s, unsigned int pid)
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
		s->walk.space = unknown_space(s);
		return;
	}
	s->walk.space = *space;
	met->space = s->walk.space;
	met->pid = pid;
	met->changes = changes;
}

static __always_inline void begin_walk(WALK_ENV env, struct scratch *s, unsigned int pid)
{
	s->walk.end = s->walk.start = 0;
	s->window.n = 0;
	s->vma.unknown = s->vma.nothing = 0;
	s->walk.unchecked = 0;
	s->walk.exact = s->walk.inner = s->walk.bx_known = 1;
	find_space(env, s, pid);
	s->head.generation = s->walk.space.generation & UNWIND_LIVE ? 0 : s->walk.space.generation;
}

/* Notes how the walk ended. Returns true if user space may know more. */
static __always_inline int note_end(struct scratch *s, int end)
{
	if (end == WALK_COMPLETE && s->walk.unchecked)
		end = WALK_FP_END;
	s->head.user_end = (unsigned char)end;
	if (end == WALK_NO_MAPPING && s->vma.nothing && s->head.user_n == 1)
		return 0; /* the registers are not this memory's: an exec is under way */
	return end == WALK_ASK || end == WALK_NO_MAPPING || (end & WALK_UNSURE);
}

/* Walks the user stack by tables. Returns true if user space may know more. */
static __always_inline int walk_user(WALK_ENV env, struct scratch *s, unsigned int pid)
{
	begin_walk(env, s, pid);
	return note_end(s, walk_up(env));
}

/* If user space must finish the walk, the sample takes the state and a copy of the stack along. */
static __always_inline void defer_if(WALK_ENV env, struct scratch *s, int asks)
{
	if (s->head.user_n == 0 || !asks)
		return;
	if (!may_copy(s)) {
		s->head.user_end = WALK_COPY;
		return;
	}
	s->head.deferred = 1;
	push_state(s, s->head.user_n - 1);
	copy_stack(env);
}

/* Walks the user stack from the registers in s->walk. */
static __always_inline void walk_or_defer(WALK_ENV env, struct scratch *s)
{
	int asks = walk_user(env, s, s->head.pid);

	s->head.user_by = SAMPLE_BY_TABLE;
	defer_if(env, s, asks);
}
#endif

/* Returns the bytes of the sample in s; 0: impossible, for the verifier. */
static __always_inline unsigned long long sample_bytes(const struct scratch *s)
{
	unsigned long long bytes = sizeof(s->head) + s->n + (s->head.has_state ? (s->head.stack_n + 7) & -8u : 0) + s->head.lang_n * 8;

	return bytes > sizeof(s->head) + ADDRESSES + sizeof(struct sample_state) + stack_limit + LANG_FRAMES * 8 ? 0 : bytes;
}

/* Takes the innermost addresses by frame pointers, `most` at most. Returns bytes, or 0 and the error in n. */
static __always_inline unsigned long long fp_stack_of(void *ctx, struct scratch *s, unsigned long long flags, short *n,
						      unsigned int most)
{
	unsigned int at = s->n;
	long got;

	if (at > SAMPLE_DEPTH_MAX * 8) /* for the verifier */
		at = 0;
	got = bpf_get_stack(ctx, my_data(s) + at, most * 8, flags);
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
