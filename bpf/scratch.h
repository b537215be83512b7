/*
 * What a CPU that takes a stack works in. Who includes this says where they are, with lane.h or with ring.h, before stack.h.
 */
#ifndef CPROF_BPF_SCRATCH_H
#define CPROF_BPF_SCRATCH_H

#include "bpf/sample.h"
#include "bpf/unwind.h"

enum {
	ADDRESSES = 2 * 1024 * 8, /* bytes; more than two stacks of SAMPLE_DEPTH_MAX */
	PIECE = 1024,             /* of a stack */
	USER_CS = 0x33,           /* arch/x86/include/asm/segment.h: 64-bit user code */
};

/* A sample's data: addresses, and at most a state and a piece of the stack. */
#ifndef SCRATCH_DATA
#define SCRATCH_DATA (ADDRESSES + sizeof(struct sample_state) + SAMPLE_STACK_MAX)
#endif

/*
 * What a CPU is busy with. What each sample touches stands together, from the last page of memory on: at 99 Hz each
 * page is one that the CPU has to look up. The map's values end where the data does.
 */
struct scratch {
	struct unwind_memory memory;
	struct sample_lane lane;
	unsigned int busy;
	unsigned int n; /* bytes of data */
	unsigned long long woken; /* where the reader was, plus 1, when this CPU woke it */
	struct walk walk;
	struct window window;
	struct sample_head head;
	unsigned char data[SCRATCH_DATA] __attribute__((aligned(8)));
} __attribute__((aligned(4096)));

/* When the reader is woken, which costs several times what a sample does. */
enum waking { WAKE_NEVER, WAKE_FOR_MUCH, WAKE_AT_ONCE };

#endif
