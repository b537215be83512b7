/* The memory of a store (common/unwind/store.h) in BPF maps, which are mapped here too. */
#ifndef CPROF_RECORD_SHARDS_H
#define CPROF_RECORD_SHARDS_H

#include "common/unwind/store.h"

struct sample_bpf;

struct shards {
	struct sample_bpf *sample;
	struct mapped {
		void *p;
		size_t bytes;
	} *items;
	size_t n, cap;
	int rows, mappings; /* maps made by shards_prepare and not used yet; 0: none */
};

/* Before the object is loaded, which needs one map of each kind to know them by: the first ones. */
bool shards_prepare(struct shards *s, struct sample_bpf *sample);

/* arg is a struct shards. */
void *shards_add(void *arg, enum store_area area, uint32_t shard, size_t bytes);
void shards_release(struct shards *s);

#endif
