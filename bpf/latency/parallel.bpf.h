/*
 * How many threads of the current process, and of its control group, have a CPU at this instant: each CPU's
 * run queue names its current task. There is no hook and no state, so nothing can drift.
 *
 * The kernel may hide where a run queue is: its symbol is one of data, which many kernels leave out of
 * kallsyms. So user space runs find_queue once on each CPU. Any task there leads to the CPU's own run queue.
 *
 * Without --latency, parallel_cpus is 0, and the verifier drops the loop.
 */
#ifndef CPROF_BPF_PARALLEL_H
#define CPROF_BPF_PARALLEL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/walk_maps.bpf.h"

/* Set before loading; the offsets are in bytes. */
const volatile unsigned int parallel_cpus = 0;
const volatile unsigned int parallel_each = 1; /* only each such sample of a CPU is counted at */
const volatile unsigned int cfs_in_task = 0, queue_in_cfs = 0, curr_in_queue = 0; /* task_struct.se.cfs_rq */
const volatile unsigned int tgid_in_task = 0, css_in_task = 0, group_in_css = 0;

/* By CPU: the address of its struct rq; 0: not known. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned long long);
} run_queues SEC(".maps");

static __always_inline unsigned long long pointer_at(unsigned long long from, unsigned int offset)
{
	unsigned long long to = 0;

	if (!from || bpf_probe_read_kernel(&to, sizeof(to), (const void *)(from + offset)))
		return 0;
	return to;
}

/* Returns the address of the task's control group of version 2. */
static __always_inline unsigned long long group_of(unsigned long long task)
{
	return pointer_at(pointer_at(task, css_in_task), group_in_css);
}

/* Returns the number of running threads of the process, plus that of its control group << 16. */
WALK_FN int count_parallel(unsigned int pid)
{
	unsigned int own = bpf_get_smp_processor_id(), of_process = 1, of_group = 1;
	unsigned long long group = group_of(bpf_get_current_task());

	for (unsigned int i = 0; i < parallel_cpus; i++) {
		unsigned int cpu = i, tgid = 0;
		unsigned long long *queue = bpf_map_lookup_elem(&run_queues, &cpu), task;

		task = queue && cpu != own ? pointer_at(*queue, curr_in_queue) : 0;
		if (!task || bpf_probe_read_kernel(&tgid, sizeof(tgid), (const void *)(task + tgid_in_task)))
			continue;
		if (!tgid) /* the CPU is idle */
			continue;
		if (tgid == pid)
			of_process++;
		if (tgid == pid || (group && group_of(task) == group))
			of_group++;
	}
	return (int)(of_process | of_group << 16);
}

/* Never attached: user space runs it. The type of program is one that can be run on a chosen CPU. */
SEC("raw_tracepoint/sched_switch")
int find_queue(void *ctx)
{
	unsigned int cpu = bpf_get_smp_processor_id();
	unsigned long long queue = pointer_at(pointer_at(bpf_get_current_task(), cfs_in_task), queue_in_cfs);

	(void)ctx;
	bpf_map_update_elem(&run_queues, &cpu, &queue, BPF_ANY);
	return 0;
}

#endif
