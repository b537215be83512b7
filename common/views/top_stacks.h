/*
 * The heaviest whole stacks.
 *
 *	struct heaviest h;
 *
 *	if (!heaviest_init(&h, &profile)) ...out of memory...
 *	for (i = 0; i < h.n; i++)
 *		...h.list[i].node, its parent and so on up to node 0; h.list[i].weight...
 *	heaviest_release(&h);
 */
#ifndef CPROF_VIEWS_TOP_STACKS_H
#define CPROF_VIEWS_TOP_STACKS_H

#include "common/profile/profile.h"

struct heaviest_item {
	uint64_t weight; /* of side 0 */
	uint32_t node;   /* the innermost frame */
	uint32_t rank;   /* among all stacks, in the order of folded text */
};

/* By weight, the largest first, then in the order of folded text. */
struct heaviest {
	struct heaviest_item *list;
	size_t n, cap;
};

/* Returns false if out of memory; the object can be released even then. */
bool heaviest_init(struct heaviest *h, const struct profile *p);
void heaviest_release(struct heaviest *h);

#endif
