/*
 * Working memory of the programs for waits and other events (bpf/event_ring.bpf.h), one scratch for each
 * online CPU. Allocating for every possible CPU would take 90 MB on a VM that allows 128, even if it has two.
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_SCRATCH_H
#define CPROF_RECORD_PROGRAMS_BPF_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/cprof-record/host/host.h"

struct bpf_map;

struct bpf_scratch {
	struct bpf_map *map; /* the array of maps, of a loaded object */
	uint32_t bytes;      /* size of each scratch */
};

/*
 * Sizes the map before its object is loaded: n slots, each scratch smaller than struct scratch by `less`
 * bytes. Returns the descriptor of the map that the kernel takes as a prototype for all; the caller closes it
 * after loading. Negative: errno.
 */
int bpf_scratch_configure(struct bpf_scratch *s, struct bpf_map *map, uint32_t n, uint32_t less);
/* Fills a slot if it is empty; it stays filled to the end. False with errno. */
bool bpf_scratch_add(const struct bpf_scratch *s, uint32_t slot);
/* Fills the slots of all these CPUs. False with errno. */
bool bpf_scratch_add_all(const struct bpf_scratch *s, const struct cpu_list *cpus);

#endif
