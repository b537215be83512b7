/*
 * Weights in order of time, for the heat map.
 *
 *	struct heatmap_data m;
 *
 *	if (!heatmap_data_init(&m, &tree, 20000000)) ...out of memory...
 *	for (size_t i = 0; i < m.n; i++)
 *		...m.list[i].weight came at node m.list[i].node in slice m.list[i].slice...
 *	heatmap_data_release(&m);
 *
 * Runs (see struct profile_moment) follow each other; each begins at a whole second.
 */
#ifndef CPROF_FLAME_HEATMAP_DATA_H
#define CPROF_FLAME_HEATMAP_DATA_H

#include "common/flame/layout.h"

struct moment {
	uint64_t slice;
	uint32_t node; /* index in the tree */
	uint64_t weight;
};

struct heatmap_data {
	uint64_t slice_ns;
	uint64_t slices; /* number of slices up to the end of the last second */
	struct moment *list; /* sorted by slice, then by node; each pair once */
	size_t n;
	uint64_t *begins; /* first slice of each run except the first; ascending */
	size_t n_begins;
};

/*
 * slice_ns: the length of the profile's moments in nanoseconds; a second is a whole number of slices. Returns
 * false if out of memory; release the object in any case.
 */
bool heatmap_data_init(struct heatmap_data *m, const struct flame_tree *t, uint64_t slice_ns);
void heatmap_data_release(struct heatmap_data *m);

#endif
