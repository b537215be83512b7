#include "common/profile/outermost.h"

#include <stdlib.h>

/* The part of a side's weight that its main command has at least. */
#define MAIN 0.9

bool outermost_main(const struct profile *p, unsigned int side, uint32_t *label)
{
	profile_weight *below = profile_below(p);

	*label = OUTERMOST_NONE;
	if (!below)
		return false;
	for (uint32_t i = p->nodes[0].first; i; i = p->nodes[i].next) {
		if (p->total[side] && (double)below[i][side] >= MAIN * (double)p->total[side])
			*label = p->nodes[i].label;
	}
	free(below);
	return true;
}
