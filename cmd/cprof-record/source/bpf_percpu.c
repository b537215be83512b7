#include "cmd/cprof-record/source/bpf_percpu.h"

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

struct lane {
	void *map; /* NULL: the CPU has no ring */
	struct sample_lane *shared;
	uint8_t *data;
	unsigned long long marked; /* shared->written when this drain began */
};

static uint32_t value_bytes(const struct sample_bpf *s)
{
	return s->rodata->data_at + s->rodata->lane_bytes + MEMORY_ADDRESSES + s->rodata->stack_limit;
}

static int create_lane(const struct sample_bpf *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "cprof_lane", sizeof(uint32_t), value_bytes(s), 1, &opts);
}

bool percpu_configure(struct percpu *l, struct sample_bpf *s, const struct options *o)
{
	int fd;

	s->rodata->lane_bytes = o->memory.lane;
	s->rodata->stack_limit = o->memory.stack;
	bpf_map__set_max_entries(s->maps.lanes, (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(s->maps.waker, (uint32_t)sysconf(_SC_PAGESIZE));
	/* Not bpf_map__set_value_size() of the inner map: libbpf 1.5 follows a NULL pointer there. */
	fd = create_lane(s);
	if (fd < 0)
		return false;
	bpf_map__set_inner_map_fd(s->maps.lanes, fd);
	l->ready = fd;
	return true;
}

bool percpu_init(struct percpu *l, const struct sample_bpf *s)
{
	int possible = libbpf_num_possible_cpus();

	l->sample = s;
	l->n = possible > 0 ? (size_t)possible : 0;
	l->items = calloc(l->n ? l->n : 1, sizeof(*l->items));
	return l->items != NULL;
}

bool percpu_add(struct percpu *l, unsigned int cpu)
{
	struct lane *lane = cpu < l->n ? &l->items[cpu] : NULL;
	uint32_t key = cpu;
	void *map;
	int fd;

	if (!lane || lane->map)
		return lane != NULL;
	fd = l->ready ? l->ready : create_lane(l->sample);
	l->ready = 0;
	if (fd < 0)
		return false;
	map = mmap(NULL, value_bytes(l->sample), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED && bpf_map_update_elem(bpf_map__fd(l->sample->maps.lanes), &key, &fd, BPF_ANY) == 0) {
		lane->map = map;
		lane->shared = (void *)((uint8_t *)map + l->sample->rodata->lane_at);
		lane->data = (uint8_t *)map + l->sample->rodata->data_at;
	} else if (map != MAP_FAILED) {
		munmap(map, value_bytes(l->sample));
	}
	close(fd); /* the map stays */
	return lane->map != NULL;
}

const volatile struct sample_counts *percpu_counts(const struct percpu *l, unsigned int cpu)
{
	return cpu < l->n && l->items[cpu].map ? &l->items[cpu].shared->counts : NULL;
}

void percpu_period(struct percpu *l, unsigned int cpu, uint64_t ns)
{
	if (cpu < l->n && l->items[cpu].map)
		l->items[cpu].shared->tick_ns = ns;
}

/* Marks how far each ring was written. Returns true if any of them holds samples. */
static bool mark_lanes(struct percpu *l)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		struct lane *lane = &l->items[i];

		if (!lane->map)
			continue;
		lane->marked = __atomic_load_n(&lane->shared->written, __ATOMIC_ACQUIRE);
		any |= lane->marked != lane->shared->read;
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

static void drain_lane(const struct percpu *l, const struct lane *lane, struct dither *d, struct queue *q)
{
	unsigned long long to = lane->marked, at = lane->shared->read;

	if (at == to)
		return;
	while (at != to) {
		struct sample_record *r = (void *)(lane->data + (at & (l->sample->rodata->lane_bytes - 1)));

		if (r->bytes < sizeof(*r) || r->bytes > to - at)
			break; /* cannot happen */
		if (d)
			r->head.weight = dither_weight(d, r->head.cpu, r->head.time, r->head.weight);
		queue_push(q, ITEM_SAMPLE, r->head.time, &r->head, r->bytes - offsetof(struct sample_record, head));
		at += r->bytes;
	}
	__atomic_store_n(&lane->shared->read, to, __ATOMIC_RELEASE);
}

void percpu_drain(struct percpu *l, struct dither *d, struct queue *q)
{
	if (!mark_lanes(l))
		return;
	order_stores();
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].map)
			drain_lane(l, &l->items[i], d, q);
	}
}

void percpu_release(struct percpu *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items && l->items[i].map)
			munmap(l->items[i].map, value_bytes(l->sample));
	}
	free(l->items);
	if (l->ready)
		close(l->ready);
	*l = (struct percpu){ 0 };
}
