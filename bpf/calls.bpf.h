/* The programs that tail calls reach: enum sample_call. A sampling object owns the map; its languages reuse it. */
#ifndef CPROF_BPF_CALLS_H
#define CPROF_BPF_CALLS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/sample.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, CALLS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} calls SEC(".maps");

#endif
