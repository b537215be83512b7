/* Selects the tasks to record. The maps belong to the sampling object, which lends them to the others. */
#ifndef CPROF_BPF_WANTED_H
#define CPROF_BPF_WANTED_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/sample.h"

const volatile unsigned int filter_pids = 0, filter_tids = 0, filter_groups = 0;

/* Resized before loading. Preallocated: below 6.1 a perf_event program may use no other hash map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} wanted SEC(".maps");

/* Control groups (version 2) to record, with the groups below them. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} groups SEC(".maps");

/* Returns the owner of the task that runs, as a sample has it. */
static __always_inline unsigned int current_owner(void)
{
	return (unsigned int)bpf_get_current_uid_gid() + 1;
}

static __always_inline int in_group(void)
{
	for (unsigned int i = 0; i < SAMPLE_GROUPS_MAX && i < filter_groups; i++) {
		if (bpf_current_task_under_cgroup(&groups, i) == 1)
			return 1;
	}
	return 0;
}

static __always_inline int is_wanted(unsigned int pid, unsigned int tid)
{
	if (filter_groups && !in_group())
		return 0;
	if (filter_pids)
		return bpf_map_lookup_elem(&wanted, &pid) != NULL;
	if (filter_tids)
		return bpf_map_lookup_elem(&wanted, &tid) != NULL;
	return 1;
}

#endif
