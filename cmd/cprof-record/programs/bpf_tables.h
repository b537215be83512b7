/*
 * The walk by tables in the kernel: backs a store (common/walk/store.h) by BPF maps, which are mapped into
 * the recorder too, and loads the program that walks by them.
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_TABLES_H
#define CPROF_RECORD_PROGRAMS_BPF_TABLES_H

#include "common/walk/store.h"

struct sample_bpf;

struct bpf_tables {
	struct sample_bpf *sample;
	struct mapped {
		void *p;
		size_t bytes;
	} *items;
	size_t n, cap;
	int rows, mappings; /* descriptors of maps that bpf_tables_prepare made and nothing uses yet; 0: none */
};

/* Before loading: makes the first map of each kind, which gives the object their shape. False with errno. */
bool bpf_tables_prepare(struct bpf_tables *s, struct sample_bpf *sample);

/* A store_backing's shard function; arg is a struct bpf_tables. NULL: no memory, or no map. */
void *bpf_tables_add(void *arg, enum store_area area, uint32_t shard, size_t bytes);
/*
 * Loads the walk of the sampling object, which then makes the walks of all ticks. Until then they are left to
 * user space: the walk takes longer to load than all the rest of the object. False with errno.
 */
bool bpf_tables_load_walk(const struct sample_bpf *sample);
/* Unmaps all memory. */
void bpf_tables_release(struct bpf_tables *s);

#endif
