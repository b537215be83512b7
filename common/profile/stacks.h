/*
 * The heaviest whole stacks.
 *
 *	struct stacks s;
 *
 *	if (!stacks_init(&s, &profile)) ...out of memory...
 *	for (i = 0; i < s.n; i++)
 *		...s.list[i].node, its parent and so on up to node 0; s.list[i].weight...
 *	stacks_release(&s);
 */
#ifndef CPROF_PROFILE_STACKS_H
#define CPROF_PROFILE_STACKS_H

#include "common/profile/profile.h"

struct stacks_item {
	uint64_t weight; /* of side 0 */
	uint32_t node;   /* the innermost frame */
	uint32_t rank;   /* among all, as folded text is sorted */
};

/* By weight, the largest first, then as folded text. */
struct stacks {
	struct stacks_item *list;
	size_t n, cap;
};

/* False without memory; the object can be released all the same. */
bool stacks_init(struct stacks *s, const struct profile *p);
void stacks_release(struct stacks *s);

#endif
