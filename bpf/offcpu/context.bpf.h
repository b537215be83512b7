/*
 * In which context a waking runs. Only a task's own waking makes it the waker: in an interrupt, the current
 * task is one that happened to be hit.
 *
 * The kernel counts nested interrupts in a variable of each CPU. Its symbol is one of data, which many kernels
 * leave out of kallsyms. But a CPU's run queue is such a variable, too, and its current task leads there; BTF
 * has the distance between the two. That the place found is right is proved each time: the variable of the
 * current task must be there as well.
 */
#ifndef CPROF_BPF_OFFCPU_CONTEXT_H
#define CPROF_BPF_OFFCPU_CONTEXT_H

#include "bpf/offcpu/threads.bpf.h"

/* Set before loading: where the variables are among those of a CPU. */
const volatile unsigned int has_context = 0;
const volatile unsigned int queue_at = 0, interrupts_at = 0, current_at = 0;

/* The bits of NMIs, interrupts, and a softirq that is served, see bpf_offcpu.c; here those of all layouts. */
const volatile unsigned int interrupts = 0x7fff0100;

/* Returns true if no interrupt is served; false as well if that is unknown. */
static __always_inline int in_task(void)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *task = bpf_get_current_task_btf();
	unsigned long long variables, current = 0;
	unsigned int count = 0;

	if (!has_context || !bpf_core_field_exists(((struct cfs_rq *)0)->rq) ||
	    bpf_core_field_exists(task->softirq_disable_cnt)) /* real-time kernels count softirqs elsewhere */
		return 0;
	variables = (unsigned long long)BPF_CORE_READ(task, se.cfs_rq, rq) - queue_at;
	if (bpf_probe_read_kernel(&current, sizeof(current), (void *)(variables + current_at)) ||
	    current != bpf_get_current_task() ||
	    bpf_probe_read_kernel(&count, sizeof(count), (void *)(variables + interrupts_at)))
		return 0;
	return !(count & interrupts);
#else
	return 0;
#endif
}

#endif
