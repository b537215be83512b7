/* Frames of V8 for the samples of sample.bpf.c: see lang/javascript.bpf.h. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lang/javascript_walk.bpf.h"
#include "bpf/percpu.bpf.h"
#include "bpf/lang/javascript.bpf.h"

static __always_inline int sample_room(const struct scratch *s)
{
	return percpu_used(s) <= percpu_bytes - PERCPU_SAMPLE - LANG_FRAMES * 8;
}
