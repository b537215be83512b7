/*
 * When weight came, in the order of time: what a heat map is drawn of.
 *
 *	struct moments m;
 *
 *	if (!moments_init(&m, &tree, 20000000)) ...out of memory...
 *	for (size_t i = 0; i < m.n; i++)
 *		...m.list[i].weight came at node m.list[i].node in slice m.list[i].slice...
 *	moments_release(&m);
 *
 * Runs (see struct profile_moment) stand one after the other, each from a whole second on.
 */
#ifndef CPROF_FLAME_MOMENTS_H
#define CPROF_FLAME_MOMENTS_H

#include "common/flame/tree.h"

struct moment {
	uint64_t slice;
	uint32_t node; /* index in the tree */
	uint64_t weight;
};

struct moments {
	uint64_t slice_ns;
	uint64_t slices; /* from the first one to the end of the last second */
	struct moment *list; /* sorted by slice, then by node; each pair once */
	size_t n;
	uint64_t *begins; /* in which slices runs begin, but for the first one; rising */
	size_t n_begins;
};

/* The profile was filled with moments of so many nanoseconds, of which a second has a whole number. */
bool moments_init(struct moments *m, const struct flame_tree *t, uint64_t slice_ns);
void moments_release(struct moments *m);

#endif
