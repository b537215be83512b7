/* Frames of V8 for the samples of event.bpf.c and offcpu.bpf.c: see lang/javascript.bpf.h. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lang/javascript_walk.bpf.h"
#include "bpf/event_ring.bpf.h"
#include "bpf/lang/javascript.bpf.h"

static __always_inline int sample_room(const struct scratch *s)
{
	(void)s; /* the room is in the scratch; the ring shows later whether it has some, too */
	return 1;
}
