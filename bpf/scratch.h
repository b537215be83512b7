/*
 * Working memory of a CPU that takes a stack. Include percpu.bpf.h or event_ring.bpf.h, which have the maps,
 * before unwind.bpf.h.
 */
#ifndef CPROF_BPF_SCRATCH_H
#define CPROF_BPF_SCRATCH_H

#include "bpf/mm/vma.h"
#include "bpf/sample.h"
#include "bpf/walk_maps.bpf.h"
#include "common/lang/lang.h"

enum {
	ADDRESSES = 2 * 1024 * 8, /* bytes; more than two stacks of SAMPLE_DEPTH_MAX */
	PIECE = 1024,             /* bytes of stack copied at once */
	USER_CS = 0x33,           /* arch/x86/include/asm/segment.h: 64-bit user code */
};

/* A sample's data: addresses, and at most a state, a piece of the stack and the frames of a language. */
#ifndef SCRATCH_DATA
#define SCRATCH_DATA (ADDRESSES + sizeof(struct sample_state) + SAMPLE_STACK_MAX + LANG_FRAMES * 8)
#endif

_Static_assert(sizeof(struct sample_record) + ADDRESSES + sizeof(struct sample_state) + LANG_FRAMES * 8 <= 20 << 10,
	       "MEMORY_ADDRESSES of memory_plan.h is enough");

/*
 * The state of one CPU. The members that each sample touches are adjacent, from the last page of memory on:
 * at 99 Hz the CPU has to look up each page that is touched. The map's values end with the data.
 */
struct scratch {
	struct unwind_memory memory;
	struct percpu_ring ring;
	unsigned int busy;
	unsigned int n; /* bytes of data */
	unsigned long long woken; /* where the reader was, plus 1, when this CPU woke it */
	struct walk walk;
	struct vma_memory vma;
	struct window window;
	struct sample_head head;
	unsigned char data[SCRATCH_DATA] __attribute__((aligned(8)));
} __attribute__((aligned(4096)));

/* When to wake the reader. A wake-up costs several times as much as a sample. */
enum waking { WAKE_NEVER, WAKE_FOR_MUCH, WAKE_AT_ONCE };

#endif
