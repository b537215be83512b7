/*
 * Per-CPU rings: each is part of its CPU's scratch, and user space reads it in place. Samples follow one
 * another, each where it was made, and each begins with a sample_record. A sample that begins before the end
 * of the ring is stored whole past that end; the next one begins at the start. These rings are for ticks: a
 * CPU has one at a time.
 *
 * A BPF ring, which all CPUs share, takes a call, a lock and a copy for each sample: a third of the cost of a
 * sample when everything is in the caches. Here a BPF ring holds only the words that wake the reader.
 */
#ifndef CPROF_BPF_PERCPU_H
#define CPROF_BPF_PERCPU_H

#include "bpf/sample.h"

#define SCRATCH_DATA (SAMPLE_RING_MOST + SAMPLE_RING_PAST_END)
#include "bpf/scratch.h"

/* Set before loading: bytes of a per-CPU ring, a power of two, without the room past its end. */
const volatile unsigned int percpu_bytes = 64 << 10;

/* By CPU: an array of one value, for the sampled CPUs. User space maps the value, so it begins at a page. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_ARRAY);
		__uint(map_flags, BPF_F_MMAPABLE);
		__uint(max_entries, 1);
		__uint(key_size, sizeof(__u32));
		__uint(value_size, sizeof(struct scratch));
	});
} percpu_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* resized to a page */
} waker SEC(".maps");

/* Offsets in a scratch, for user space. */
const volatile unsigned int percpu_at = __builtin_offsetof(struct scratch, ring);
const volatile unsigned int data_at = __builtin_offsetof(struct scratch, data);

static __always_inline struct scratch *my_scratch(void)
{
	return shard_value(&percpu_rings, bpf_get_smp_processor_id());
}

static __always_inline struct sample_record *my_record(struct scratch *s)
{
	return (struct sample_record *)(s->data + (s->ring.written & (percpu_bytes - 8)));
}

/* Returns the data of the current sample. */
static __always_inline unsigned char *my_data(struct scratch *s)
{
	return (unsigned char *)(my_record(s) + 1);
}

static __always_inline unsigned long long percpu_used(const struct scratch *s)
{
	return s->ring.written - *(const volatile unsigned long long *)&s->ring.read;
}

enum { PERCPU_SAMPLE = sizeof(struct sample_record) + ADDRESSES + sizeof(struct sample_state) };

/* Is there room for a sample without a copy of the stack? */
static __always_inline int has_room(const struct scratch *s)
{
	return percpu_used(s) <= percpu_bytes - PERCPU_SAMPLE;
}

/* Is there room for a copy, too? A sample without one is better than none; half a ring holds the longest. */
static __always_inline int may_copy(const struct scratch *s)
{
	return percpu_used(s) < percpu_bytes / 2;
}

/* Wakes the reader, but only once until it reads something: on a busy machine it may take long to run. */
static __always_inline void wake_reader(struct scratch *s, int at_once)
{
	unsigned long long word = s->ring.read + 1;

	if ((at_once || percpu_used(s) > percpu_bytes / 4) && word != s->woken &&
	    bpf_ringbuf_output(&waker, &word, sizeof(word), BPF_RB_FORCE_WAKEUP) == 0)
		s->woken = word;
}

/*
 * Hands the given number of bytes at my_data to the reader. On x86 stores are seen in their order. On other
 * architectures nothing that all kernels from 5.8 on accept would order them here (arm64 refuses an atomic
 * that returns the old value up to 5.17): there user space orders them before it reads, see bpf_percpu.c.
 */
static __always_inline void commit_sample(struct scratch *s, unsigned long long bytes)
{
	struct sample_record *r = my_record(s);

	r->head = s->head;
	r->bytes = (sizeof(*r) + bytes + 7) & ~7ull;
	asm volatile("" : : : "memory");
	*(volatile unsigned long long *)&s->ring.written += r->bytes;
}

#endif
