/*
 * Kernel frames that are not the thread's own: those of the program that took the stack, of the tracepoint that called it, and of
 * the scheduler. Each is found by its name once, and known by its address afterwards.
 *
 *	struct kernel_frames k = { .ksym = ksym };
 *
 *	skip = kernel_frames_hit(&k, address, n);	// address[skip] is the innermost frame to show
 *
 * Stacks are n return addresses, leaf first. Each function but the last returns how many of the innermost frames to leave out.
 */
#ifndef CPROF_RECORD_ENCODE_KERNEL_FRAMES_H
#define CPROF_RECORD_ENCODE_KERNEL_FRAMES_H

#include "cmd/cprof-record/host/ksym.h"

enum { KERNEL_FRAMES_KNOWN = 256 };

struct kernel_frames {
	struct ksym *ksym; /* lent */
	/* Return addresses in __schedule, in schedule, in another caller, and in schedule when it returns. */
	uint64_t schedule[4];
	uint64_t trampoline; /* return address in the BPF trampoline that called schedule */
	unsigned int schedule_asked; /* symbol searches for schedule[0] */
	struct known_caller {
		uint64_t address;
		bool is; /* in a function that calls a tracepoint's program */
	} known[KERNEL_FRAMES_KNOWN]; /* by the address's hash */
};

/* The stack of a thread that leaves the CPU. exact: the program also runs where schedule returns, through a trampoline. */
int kernel_frames_leaving(struct kernel_frames *k, const uint64_t *address, int n, bool exact);
/* The stack of a thread that is back on the CPU, taken where schedule returns. */
int kernel_frames_returning(struct kernel_frames *k, const uint64_t *address, int n);
/* The stack of a raw tracepoint's hit. */
int kernel_frames_hit(struct kernel_frames *k, const uint64_t *address, int n);
/*
 * Returns true if the thread has no user stack at this point: an io_uring worker never had one; inside
 * exit(2) and execve(2) it has been freed.
 */
bool kernel_frames_no_user(struct kernel_frames *k, const uint64_t *address, int n);

#endif
