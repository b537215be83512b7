/*
 * Mappings of the processes that the walk knows, by pid. Preallocated below 6.1, where a perf_event program
 * may use no other hash map.
 */
#ifndef CPROF_BPF_SPACES_H
#define CPROF_BPF_SPACES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "common/walk/space.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_space);
} spaces SEC(".maps");

#endif
