/* Frames of interpreted languages for the samples of event.bpf.c and offcpu.bpf.c: see lang/lang.bpf.h. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#define WALK_ENV unsigned int

#include "bpf/event_ring.bpf.h"
#include "bpf/lang/programs.bpf.h"

static __always_inline int sample_room(const struct scratch *s)
{
	(void)s; /* the room is in the scratch; the ring shows later whether it has some, too */
	return 1;
}
