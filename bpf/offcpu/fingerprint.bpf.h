/*
 * Fingerprints of interrupts: of the stack on which an interrupt runs, up to the waking. The kernel takes 0.3
 * to 0.8 us a frame to unwind one, because its tables are hardly ever in the caches when a thread has slept
 * for a millisecond. To read the stack takes a tenth of that.
 *
 * The kernel finds each caller by the stack pointer or by the frame pointer. So the only words that it takes
 * from the stack are return addresses, which are in the kernel's code, and pointers into the stack itself.
 * Two stacks with the same such words at the same places have the same frames. The fingerprint is a hash of
 * these words from a program's context, which is on the stack, to the end of that stack; other words may
 * change. Old words of that kind in unused places make it differ without need, but never agree.
 *
 * An interrupt has a stack of its own if it hits the kernel, and the empty one of the task if it hits a
 * program. The stack of a system call has no fingerprint: many kernels move it by a random distance each time, so that
 * other old words are met.
 *
 * This holds for x86-64, whose kernel, modules and BPF programs are in the last 2 GiB of addresses.
 */
#ifndef CPROF_BPF_OFFCPU_FINGERPRINT_H
#define CPROF_BPF_OFFCPU_FINGERPRINT_H

#include "bpf/offcpu/threads.bpf.h"

enum {
	FINGERPRINT_WORDS = 256, /* a stack's, at most; a power of two */
	FINGERPRINT_NEAR = 14,   /* bits: the distance of a pointer into the stack is below 16 KiB */
};

/* Interrupts are off at a waking, so one per CPU is enough. */
struct fingerprint {
	unsigned long long sp, end; /* the part of the stack that counts */
	unsigned long long lowest; /* address of the task's stack */
	unsigned int in_call, is_idle; /* the task */
	unsigned int whole; /* all frames count */
	unsigned long long irq_end; /* the end of this CPU's interrupt stack; 0: unknown */
	unsigned long long hash;    /* 0: there is none */
	unsigned long long words[FINGERPRINT_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct fingerprint);
} fingerprints SEC(".maps");

static __always_inline struct fingerprint *my_fingerprint(void)
{
	unsigned int zero = 0;

	return bpf_map_lookup_elem(&fingerprints, &zero);
}

/* The part of a word that counts, without a branch: the verifier would follow both ways at each word. */
static __always_inline unsigned long long fingerprint_word(unsigned long long word, unsigned long long sp)
{
	unsigned long long above = word - sp;
	unsigned long long code = (((word >> 31) ^ 0x1ffffffff) - 1) >> 63;
	unsigned long long near = ((above >> FINGERPRINT_NEAR) - 1) >> 63;

	return (word & -code) | (above & -near);
}

/* Adds eight words to p->hash. A function of its own, because the verifier follows each iteration of a loop. */
WALK_FN int fingerprint_eight(unsigned int first)
{
	struct fingerprint *p = my_fingerprint();

	if (!p)
		return 0;
	for (unsigned int i = 0; i < 8; i++) {
		if (first + i >= (p->end - p->sp) / 8)
			return 0;
		p->hash = mix_key(p->hash,
				  fingerprint_word(p->words[(first + i) & (FINGERPRINT_WORDS - 1)], p->sp));
	}
	return 0;
}

/* Sets p->hash to that of the words from p->sp to p->end. */
WALK_FN int fingerprint_words(void)
{
	struct fingerprint *p = my_fingerprint();
	unsigned long long bytes;

	if (!p)
		return 0;
	bytes = p->end - p->sp;
	if (bytes > sizeof(p->words) || bytes == 0 || bpf_probe_read_kernel(p->words, bytes, (void *)p->sp))
		return 0;
	p->hash = mix_key(p->whole << 1 | p->is_idle, bytes);
	for (unsigned int first = 0; first < FINGERPRINT_WORDS && first * 8 < bytes; first += 8)
		fingerprint_eight(first);
	p->hash |= 1;
	return 0;
}

/* The end of the stack of interrupts is that of a page before one that cannot be read. */
WALK_FN int fingerprint_stack(void)
{
	struct fingerprint *p = my_fingerprint();

	if (!p)
		return 0;
	p->hash = 0;
	p->whole = p->sp >= p->lowest && p->sp < p->end;
	if (p->whole && p->in_call)
		return 0;
	if (!p->whole) {
		p->end = (p->sp | (STACK_PAGE - 1)) + 1;
		if (p->irq_end != p->end &&
		    bpf_probe_read_kernel(p->words, sizeof(p->words[0]), (void *)p->end) == 0)
			return 0;
		p->irq_end = p->end;
	}
	fingerprint_words();
	return 0;
}

/*
 * Returns the fingerprint of the interrupt in which the program runs; 0: it has none. *whole: it is that of
 * all frames.
 */
static __always_inline unsigned long long fingerprint_interrupt(void *ctx, unsigned int *whole)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct fingerprint *p = my_fingerprint();

	if (!p)
		return 0;
	/* Pointers become numbers in memory. */
	*(volatile unsigned long long *)&p->sp = (unsigned long long)ctx;
	*(volatile unsigned long long *)&p->end = (unsigned long long)regs;
	p->lowest = (unsigned long long)task->stack;
	p->in_call = in_call(regs);
	p->is_idle = task->pid == 0;
	fingerprint_stack();
	*whole = p->whole;
	return p->hash;
#else
	(void)ctx;
	*whole = 0;
	return 0;
#endif
}

#endif
