#include "cmd/cprof-record/programs/bpf_percpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/sample.skel.h"

enum { STORES_MS = 10 }; /* see order_stores */

struct mapped_ring {
	void *map; /* NULL: the CPU has no ring */
	struct percpu_ring *shared;
	uint8_t *data;
	unsigned long long marked; /* shared->written when this drain began */
};

static uint32_t value_bytes(const struct sample_bpf *s)
{
	return s->rodata->data_at + s->rodata->percpu_bytes + MEMORY_ADDRESSES + s->rodata->stack_limit;
}

static int create_ring(const struct sample_bpf *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "cprof_ring", sizeof(uint32_t), value_bytes(s), 1, &opts);
}

bool percpu_configure(struct percpu *p, struct sample_bpf *s, const struct options *o)
{
	int fd;

	s->rodata->percpu_bytes = o->memory.percpu_ring;
	s->rodata->stack_limit = o->memory.stack;
	bpf_map__set_max_entries(s->maps.percpu_rings, (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(s->maps.waker, (uint32_t)sysconf(_SC_PAGESIZE));
	/* Not bpf_map__set_value_size() of the inner map: libbpf 1.5 follows a NULL pointer there. */
	fd = create_ring(s);
	if (fd < 0)
		return false;
	bpf_map__set_inner_map_fd(s->maps.percpu_rings, fd);
	p->ready = fd;
	return true;
}

bool percpu_init(struct percpu *p, const struct sample_bpf *s)
{
	int possible = libbpf_num_possible_cpus();

	p->sample = s;
	p->n = possible > 0 ? (size_t)possible : 0;
	p->items = calloc(p->n ? p->n : 1, sizeof(*p->items));
	return p->items != NULL;
}

bool percpu_add(struct percpu *p, unsigned int cpu)
{
	struct mapped_ring *ring = cpu < p->n ? &p->items[cpu] : NULL;
	uint32_t key = cpu;
	void *map;
	int fd;

	if (!ring || ring->map)
		return ring != NULL;
	fd = p->ready ? p->ready : create_ring(p->sample);
	p->ready = 0;
	if (fd < 0)
		return false;
	map = mmap(NULL, value_bytes(p->sample), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED &&
	    bpf_map_update_elem(bpf_map__fd(p->sample->maps.percpu_rings), &key, &fd, BPF_ANY) == 0) {
		ring->map = map;
		ring->shared = (void *)((uint8_t *)map + p->sample->rodata->percpu_at);
		ring->data = (uint8_t *)map + p->sample->rodata->data_at;
	} else if (map != MAP_FAILED) {
		munmap(map, value_bytes(p->sample));
	}
	close(fd); /* the map stays */
	return ring->map != NULL;
}

const volatile struct sample_counts *percpu_counts(const struct percpu *p, unsigned int cpu)
{
	return cpu < p->n && p->items[cpu].map ? &p->items[cpu].shared->counts : NULL;
}

void percpu_period(struct percpu *p, unsigned int cpu, uint64_t ns)
{
	if (cpu < p->n && p->items[cpu].map)
		p->items[cpu].shared->tick_ns = ns;
}

/* Marks how far each ring was written. Returns true if any of them holds samples. */
static bool mark_rings(struct percpu *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		struct mapped_ring *ring = &p->items[i];

		if (!ring->map)
			continue;
		ring->marked = __atomic_load_n(&ring->shared->written, __ATOMIC_ACQUIRE);
		any |= ring->marked != ring->shared->read;
	}
	return any;
}

/*
 * Waits until stores made before the marks are visible here. On x86 they are visible at once. Other
 * architectures may reorder stores, and BPF has no store-release. This membarrier(2) waits for an RCU grace
 * period, which is a full barrier on each CPU between the mark and the read. It takes a few ticks and no CPU
 * time. Kernels with nohz_full refuse it: there we sleep a thousand times as long as a CPU delays a store.
 */
static void order_stores(void)
{
#if !defined(__x86_64__)
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		poll(NULL, 0, STORES_MS);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void drain_ring(const struct percpu *p, const struct mapped_ring *ring, struct dither *d,
		       struct queue *q)
{
	unsigned long long to = ring->marked, at = ring->shared->read;

	if (at == to)
		return;
	while (at != to) {
		struct sample_record *r = (void *)(ring->data + (at & (p->sample->rodata->percpu_bytes - 1)));

		if (r->bytes < sizeof(*r) || r->bytes > to - at) { /* cannot happen */
			q->lost[ITEM_SAMPLE]++;
			break;
		}
		if (d && r->head.what != SAMPLE_OUTSIDE)
			r->head.weight = dither_weight(d, r->head.cpu, r->head.time, r->head.weight);
		queue_push(q, ITEM_SAMPLE, r->head.time, &r->head, r->bytes - offsetof(struct sample_record, head));
		at += r->bytes;
	}
	__atomic_store_n(&ring->shared->read, to, __ATOMIC_RELEASE);
}

void percpu_drain(struct percpu *p, struct dither *d, struct queue *q)
{
	if (!mark_rings(p))
		return;
	order_stores();
	for (size_t i = 0; i < p->n; i++) {
		if (p->items[i].map)
			drain_ring(p, &p->items[i], d, q);
	}
}

void percpu_release(struct percpu *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->items && p->items[i].map)
			munmap(p->items[i].map, value_bytes(p->sample));
	}
	free(p->items);
	if (p->ready)
		close(p->ready);
	*p = (struct percpu){ 0 };
}
