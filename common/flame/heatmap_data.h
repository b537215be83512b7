/*
 * Weights in order of time, for the heat map and the lanes below it.
 *
 *	struct heatmap_data m;
 *
 *	if (!heatmap_data_init(&m, &tree, &origins, 20000000, true)) ...out of memory...
 *	for (size_t i = 0; i < m.n; i++)
 *		...m.list[i].weight came at node m.list[i].node in slice m.list[i].slice...
 *	for (size_t i = 0; i < m.n_spans; i++)
 *		...m.spans[i].weight is spread evenly over m.spans[i].whole slices from m.spans[i].slice on...
 *	heatmap_data_release(&m);
 *
 * Runs (see struct profile_moment) follow each other; each begins at a whole second. If origins are aligned,
 * and the time of every run is known, all runs are one with the gaps between them.
 */
#ifndef CPROF_FLAME_HEATMAP_DATA_H
#define CPROF_FLAME_HEATMAP_DATA_H

#include "common/flame/layout.h"
#include "common/gather/origin.h"

struct moment {
	uint64_t slice, whole; /* whole: number of slices, 1 in the list */
	uint32_t node; /* index in the tree */
	uint32_t origin; /* see origin.h */
	uint64_t weight;
};

/* Ticks of the ledger with one outcome, evenly from slice up to slice to, which is included. */
struct heatmap_ticks {
	uint64_t slice, to, count;
	uint32_t outcome;
};

/* Limits for a browser that holds them in memory beside the flame graph. */
enum { HEATMAP_SLICES = 4 << 20, HEATMAP_MOMENTS = 2 << 20 };

struct heatmap_data {
	uint64_t slice_ns;
	uint64_t slices; /* number of slices up to the end of the last second */
	struct moment *list; /* sorted by slice, then by node and origin; each triple once */
	size_t n;
	struct moment *spans; /* likewise, and by whole */
	size_t n_spans;
	struct heatmap_ticks *ticks; /* sorted by slice */
	size_t n_ticks;
	const struct origins *origins; /* lent */
	uint64_t first_ns;    /* if all runs are one: the beginning of slice 0, since 1970; otherwise 0 */
	uint32_t *begin_runs; /* by begin: number of the run in origins; the first is that of slice 0 */
	uint64_t *begins; /* first slice of each run except the first; ascending */
	size_t n_begins;
};

/*
 * origins: those of the profile's moments. slice_ns: the length of the profile's moments in nanoseconds; a
 * second is a whole number of slices. fits: join slices to longer ones until there are no more than a browser
 * can hold. Returns false if out of memory; release the object in any case.
 */
bool heatmap_data_init(struct heatmap_data *m, const struct flame_tree *t, const struct origins *origins,
		       uint64_t slice_ns, bool fits);
void heatmap_data_release(struct heatmap_data *m);

#endif
