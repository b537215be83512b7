/*
 * Perf events of probes in user code, and their cost.
 *
 *	struct uprobe_cost cost;
 *
 *	uprobe_measure(probe, program, &cost);	// program: loaded, and ends at once
 *	fd = uprobe_open(probe, 0, 3);		// the first place; opened on CPU 3, counts on all
 *
 * The cost depends on the instruction: the kernel emulates some (a nop, a push, a jump) after one trap. It
 * executes others elsewhere and needs a second trap, which can cost a virtual machine 50 times as much. A nop
 * of five bytes becomes a call since Linux 6.18. Until that was mended, the call overwrote what a leaf
 * function keeps below the stack pointer (mails to linux-trace-kernel, May 2026: "uprobes/x86: Fix red zone
 * issue for optimized uprobes"). All this is measured, at probes in functions of our own.
 */
#ifndef CPROF_RECORD_PROGRAMS_UPROBE_H
#define CPROF_RECORD_PROGRAMS_UPROBE_H

#include "cmd/cprof-record/config/probe_spec.h"

struct bpf_program;

struct uprobe_cost {
	unsigned int ns; /* time for a hit at the dearest of its places; 0: not known */
	bool harms;	 /* the kernel overwrites variables of leaf functions at one of its places */
};

/*
 * Returns the disabled event of one place, which every process that has the file mapped can hit; -1: errno.
 */
int uprobe_open(const struct probe *p, size_t site, unsigned int cpu);
/* Returns true if no other perf program runs on a CPU while the kernel calls that of a probe. */
bool uprobe_keeps_out(void);
void uprobe_measure(const struct probe *p, const struct bpf_program *program, struct uprobe_cost *cost);

#endif
