/*
 * One ring for all CPUs, to which samples are copied from their CPU's scratch. The programs that run at
 * events use it: another program can interrupt them in the middle of a sample, and their samples come in
 * bursts from one CPU.
 */
#ifndef CPROF_BPF_RING_H
#define CPROF_BPF_RING_H

#include "bpf/scratch.h"

const volatile unsigned int ring_bytes = 1 << 20; /* set before loading */

enum { RING_WAKE = 256 << 10 }; /* unread bytes that wake the reader */

/* By CPU: an array of one value, for online CPUs. A per-CPU array allows 32 KiB, on each possible CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_ARRAY);
		__uint(max_entries, 1);
		__uint(key_size, sizeof(__u32));
		__uint(value_size, sizeof(struct scratch));
	});
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

static __always_inline struct scratch *my_scratch(void)
{
	return shard_value(&scratches, bpf_get_smp_processor_id());
}

/* Returns the data of the current sample. */
static __always_inline unsigned char *my_data(struct scratch *s)
{
	return s->data;
}

/*
 * Copies a record into the ring. Nonzero: the ring is full. The reader is woken only once until it has read
 * something: on a busy machine it may take long until it runs.
 */
static __always_inline long submit_record(const void *data, unsigned long long bytes, enum waking wakes)
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

/* Is there room in the ring for a copy of the stack? A sample without one is better than none. */
static __always_inline int may_copy(const struct scratch *s)
{
	(void)s; /* percpu.bpf.h looks at its ring */
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < ring_bytes / 2;
}

#endif
