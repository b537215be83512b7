/*
 * One ring of all CPUs, that samples are copied to from their CPU's scratch: of the programs that run at events. What
 * they take has another program's interruption in the middle, and comes in bursts of one CPU.
 */
#ifndef CPROF_BPF_RING_H
#define CPROF_BPF_RING_H

#include "bpf/scratch.h"

const volatile unsigned int ring_bytes = 1 << 20; /* set before loading */

enum { RING_WAKE = 256 << 10 }; /* the reader is woken when so much waits */

/* By CPU. Not a per-CPU array: the values of one can have 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

static __always_inline struct scratch *my_scratch(void)
{
	unsigned int cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

/* Where the data of the sample in hand is. */
static __always_inline unsigned char *my_data(struct scratch *s)
{
	return s->data;
}

/* Into the ring. Who was woken is not again before he has taken something: on a busy machine it can be long till he runs. */
static __always_inline long put(const void *data, unsigned long long bytes, enum waking wakes)
{
	struct scratch *s = my_scratch();
	unsigned long long reader = 0;
	long failed;

	if (wakes && s && (wakes == WAKE_AT_ONCE || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_WAKE)) {
		reader = bpf_ringbuf_query(&ring, BPF_RB_CONS_POS) + 1;
		if (reader == s->woken)
			reader = 0;
	}
	failed = bpf_ringbuf_output(&ring, (void *)data, bytes, reader ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	if (s && reader && !failed)
		s->woken = reader;
	return failed;
}

/* Is there room for a stack in the ring? A sample without one is better than none. */
static __always_inline int may_copy(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < ring_bytes / 2;
}

#endif
