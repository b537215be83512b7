#include "cmd/cprof-record/programs/bpf_scratch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

static int create_scratch(const struct bpf_scratch *s)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "cprof_scratch", sizeof(uint32_t), s->bytes, 1, NULL);
}

int bpf_scratch_configure(struct bpf_scratch *s, struct bpf_map *map, uint32_t n, uint32_t less)
{
	int prototype;

	*s = (struct bpf_scratch){ map, bpf_map__value_size(bpf_map__inner_map(map)) - less };
	bpf_map__set_max_entries(map, n);
	/* Not bpf_map__set_value_size() of the inner map: see bpf_percpu.c. */
	prototype = create_scratch(s);
	if (prototype >= 0)
		bpf_map__set_inner_map_fd(map, prototype);
	return prototype;
}

bool bpf_scratch_add(const struct bpf_scratch *s, uint32_t slot)
{
	int outer = bpf_map__fd(s->map), fd;
	uint32_t id;
	bool done;

	if (bpf_map_lookup_elem(outer, &slot, &id) == 0)
		return true;
	fd = create_scratch(s);
	if (fd < 0)
		return false;
	done = bpf_map_update_elem(outer, &slot, &fd, BPF_ANY) == 0;
	close(fd); /* the outer map keeps it */
	return done;
}

bool bpf_scratch_add_all(const struct bpf_scratch *s, const struct cpu_list *cpus)
{
	for (size_t i = 0; i < cpus->n; i++) {
		if (!bpf_scratch_add(s, cpus->items[i]))
			return false;
	}
	return true;
}
