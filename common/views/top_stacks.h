/*
 * The heaviest whole stacks.
 *
 *	struct top_stacks h;
 *
 *	if (!top_stacks_init(&h, &profile)) ...out of memory...
 *	for (i = 0; i < h.n; i++)
 *		...h.list[i].node, its parent and so on up to node 0; h.list[i].weight...
 *	top_stacks_release(&h);
 */
#ifndef CPROF_VIEWS_TOP_STACKS_H
#define CPROF_VIEWS_TOP_STACKS_H

#include "common/profile/profile.h"

struct top_stacks_item {
	uint64_t weight; /* of side 0 */
	uint32_t node;   /* the innermost frame */
	uint32_t rank;   /* among all stacks, in the order of folded text */
};

/* By weight, the largest first, then in the order of folded text. */
struct top_stacks {
	struct top_stacks_item *list;
	size_t n, cap;
};

/* Returns false if out of memory; the object can be released even then. */
bool top_stacks_init(struct top_stacks *h, const struct profile *p);
void top_stacks_release(struct top_stacks *h);

#endif
