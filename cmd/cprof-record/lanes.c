#include "cmd/cprof-record/lanes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/sample.skel.h"

struct lane {
	void *map; /* NULL: there is none */
	struct sample_lane *shared;
	const uint8_t *data;
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

int lanes_configure(struct sample_bpf *s, const struct options *o)
{
	int prototype;

	s->rodata->lane_bytes = o->memory.lane;
	s->rodata->stack_limit = o->memory.stack;
	bpf_map__set_max_entries(s->maps.lanes, (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(s->maps.waker, (uint32_t)sysconf(_SC_PAGESIZE));
	/* Not bpf_map__set_value_size() of the inner map: libbpf 1.5 follows a NULL pointer there. */
	prototype = create_lane(s);
	if (prototype >= 0)
		bpf_map__set_inner_map_fd(s->maps.lanes, prototype);
	return prototype;
}

bool lanes_init(struct lanes *l, const struct sample_bpf *s)
{
	int possible = libbpf_num_possible_cpus();

	l->sample = s;
	l->n = possible > 0 ? (size_t)possible : 0;
	l->items = calloc(l->n ? l->n : 1, sizeof(*l->items));
	return l->items != NULL;
}

bool lanes_add(struct lanes *l, unsigned int cpu)
{
	struct lane *lane = cpu < l->n ? &l->items[cpu] : NULL;
	uint32_t key = cpu;
	void *map;
	int fd;

	if (!lane || lane->map)
		return lane != NULL;
	fd = create_lane(l->sample);
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
	close(fd); /* the map goes on */
	return lane->map != NULL;
}

const volatile struct sample_counts *lanes_counts(const struct lanes *l, unsigned int cpu)
{
	return cpu < l->n && l->items[cpu].map ? &l->items[cpu].shared->counts : NULL;
}

static void drain_lane(const struct lanes *l, const struct lane *lane, struct queue *q)
{
	unsigned long long to = __atomic_load_n(&lane->shared->written, __ATOMIC_ACQUIRE), at = lane->shared->read;

	if (at == to)
		return;
	while (at != to) {
		const struct sample_record *r = (const void *)(lane->data + (at & (l->sample->rodata->lane_bytes - 1)));

		if (r->bytes < sizeof(*r) || r->bytes > to - at)
			break; /* cannot be */
		queue_push(q, ITEM_SAMPLE, r->head.time, &r->head, r->bytes - offsetof(struct sample_record, head));
		at += r->bytes;
	}
	__atomic_store_n(&lane->shared->read, to, __ATOMIC_RELEASE);
}

void lanes_drain(struct lanes *l, struct queue *q)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].map)
			drain_lane(l, &l->items[i], q);
	}
}

void lanes_release(struct lanes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items && l->items[i].map)
			munmap(l->items[i].map, value_bytes(l->sample));
	}
	free(l->items);
	*l = (struct lanes){ 0 };
}
