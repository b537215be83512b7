/* Reads words of the kernel's structures; 0 if there is nothing to be read. */
#ifndef CPROF_BPF_MM_KERNEL_H
#define CPROF_BPF_MM_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u64 kernel64(__u64 from)
{
	__u64 v = 0;

	return bpf_probe_read_kernel(&v, sizeof(v), (const void *)from) ? 0 : v;
}

static __always_inline __u32 kernel32(__u64 from)
{
	__u32 v = 0;

	return bpf_probe_read_kernel(&v, sizeof(v), (const void *)from) ? 0 : v;
}

#endif
