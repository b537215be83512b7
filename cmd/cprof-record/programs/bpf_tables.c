#include "cmd/cprof-record/programs/bpf_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/sample.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/programs/bpf_settings.h"
#include "common/base/array.h"

static const char rows_name[] = "cprof_rows", mappings_name[] = "cprof_mappings";

static void *map_shard(struct bpf_tables *s, int fd, size_t bytes)
{
	void *p;

	if (!grow_array(&s->items, &s->cap, s->n, sizeof(*s->items)))
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	s->items[s->n++] = (struct mapped){ p, bytes };
	return p;
}

static int create_inner(const char *name, size_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)bytes, 1, &opts);
}

static bool prepare_inner(struct bpf_map *outer, const char *name, int *ready)
{
	int fd = create_inner(name, bpf_map__value_size(bpf_map__inner_map(outer)));

	if (fd < 0)
		return false;
	*ready = fd;
	return bpf_map__set_inner_map_fd(outer, fd) == 0;
}

bool bpf_tables_prepare(struct bpf_tables *s, struct sample_bpf *sample)
{
	s->sample = sample;
	return prepare_inner(sample->maps.row_shards, rows_name, &s->rows) &&
	       prepare_inner(sample->maps.mapping_shards, mappings_name, &s->mappings);
}

/* Adds an inner map to the outer one, first the prepared one. */
static void *add_inner(struct bpf_tables *s, const struct bpf_map *outer, const char *name, uint32_t shard, size_t bytes, int *ready)
{
	int fd = *ready ? *ready : create_inner(name, bytes);
	void *p;

	*ready = 0;
	if (fd < 0)
		return NULL;
	p = map_shard(s, fd, bytes);
	if (p && bpf_map_update_elem(bpf_map__fd(outer), &shard, &fd, BPF_ANY) != 0)
		p = NULL; /* stays mapped; nothing reads it */
	close(fd);
	return p;
}

void *bpf_tables_add(void *arg, enum store_area area, uint32_t shard, size_t bytes)
{
	struct bpf_tables *s = arg;

	switch (area) {
	case STORE_RULES:
		return map_shard(s, bpf_map__fd(s->sample->maps.rules), bytes);
	case STORE_PAGES:
		return map_shard(s, bpf_map__fd(s->sample->maps.pages), bytes);
	case STORE_FILES:
		return map_shard(s, bpf_map__fd(s->sample->maps.files), bytes);
	case STORE_ROWS:
		return add_inner(s, s->sample->maps.row_shards, rows_name, shard, bytes, &s->rows);
	case STORE_MAPPINGS:
		return add_inner(s, s->sample->maps.mapping_shards, mappings_name, shard, bytes, &s->mappings);
	default:
		return NULL;
	}
}

/* Opens the object once more, for this program alone, with the maps and settings of the loaded one. */
static struct sample_bpf *open_again(const struct sample_bpf *sample, const struct bpf_program *only)
{
	struct sample_bpf *again = sample_bpf__open();
	struct bpf_program *p;
	struct bpf_map *map;

	if (!again)
		return NULL;
	memcpy(again->rodata, sample->rodata, sizeof(*again->rodata));
	bpf_object__for_each_program(p, again->obj)
		bpf_program__set_autoload(p, strcmp(bpf_program__name(p), bpf_program__name(only)) == 0);
	bpf_object__for_each_map(map, again->obj) {
		const struct bpf_map *its = bpf_object__find_map_by_name(sample->obj, bpf_map__name(map));

		if (bpf_map__is_internal(map) || bpf_map__reuse_fd(map, bpf_map__fd(its)) == 0)
			continue;
		sample_bpf__destroy(again);
		return NULL;
	}
	return again;
}

bool bpf_tables_load_walk(const struct sample_bpf *sample)
{
	const struct bpf_program *walk = bpf_object__find_program_by_name(sample->obj, "walk_stack");
	struct sample_bpf *again = walk ? open_again(sample, walk) : NULL;
	uint32_t call = CALL_WALK;
	int fd, error;

	if (!again)
		return false;
	bpf_settings_mappings(again);
	fd = sample_bpf__load(again) == 0 ?
		     bpf_program__fd(bpf_object__find_program_by_name(again->obj, "walk_stack")) : -1;
	if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(sample->maps.calls), &call, &fd, BPF_ANY) != 0)
		fd = -1;
	error = errno;
	sample_bpf__destroy(again); /* the map keeps the program */
	errno = error;
	return fd >= 0;
}

void bpf_tables_release(struct bpf_tables *s)
{
	for (size_t i = 0; i < s->n; i++)
		munmap(s->items[i].p, s->items[i].bytes);
	free(s->items);
	if (s->rows)
		close(s->rows);
	if (s->mappings)
		close(s->mappings);
	*s = (struct bpf_tables){ 0 };
}
