/*
 * Memory that the programs of waits and of other events work in (bpf/ring.h): for each CPU that is online. For each
 * possible CPU it would be 90 MB on virtual machines with room for 128 CPUs, whatever they have.
 */
#ifndef CPROF_RECORD_SCRATCHES_H
#define CPROF_RECORD_SCRATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/cprof-record/host.h"

struct bpf_map;

struct scratches {
	struct bpf_map *map; /* the array of maps, of an object that is loaded */
	uint32_t bytes;      /* of each scratch */
};

/*
 * Sizes the map before its object is loaded: slots for n scratches, each of them less bytes smaller than struct scratch.
 * Returns the descriptor of the map that the kernel takes as a prototype of all of them; the caller closes it after loading.
 * Negative: errno.
 */
int scratches_configure(struct scratches *s, struct bpf_map *map, uint32_t n, uint32_t less);
/* Fills a slot if it is empty; it stays filled to the end. False: errno. */
bool scratches_add(const struct scratches *s, uint32_t slot);
bool scratches_add_all(const struct scratches *s, const struct cpu_list *cpus);

#endif
