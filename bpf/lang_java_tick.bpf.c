/* Java's frames for the samples of sample.bpf.c: see lang/java.bpf.h. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lang/java_step.bpf.h"
#include "bpf/percpu.bpf.h"
#include "bpf/lang/java.bpf.h"

static __always_inline int sample_room(const struct scratch *s)
{
	return percpu_used(s) <= percpu_bytes - PERCPU_SAMPLE - LANG_FRAMES * 8;
}

LANG_PROGRAM(java, s)

char LICENSE[] SEC("license") = "GPL";
