/*
 * Which differences between two sides are more than chance: of each node's total, and of the self and the total of
 * each name.
 *
 *	struct verdicts v;
 *
 *	if (!verdicts_init(&v, &tree, samples)) ...out of memory...
 *	...v.nodes[i], v.selfs[label], v.totals[label]...
 *	verdicts_release(&v);
 *
 * Nodes are one family of tests, names another, each under control of false discoveries; see stats/compare.h. The
 * total of a name counts a stack in which it stands more than once but once; what ran is a name of its own.
 */
#ifndef CPROF_FLAME_VERDICT_H
#define CPROF_FLAME_VERDICT_H

#include "common/flame/tree.h"

/* The numbers are those of the data block; see block.h. */
enum verdict { VERDICT_NONE, VERDICT_LESS, VERDICT_MORE, VERDICT_NEW, VERDICT_GONE };

struct verdicts {
	uint8_t *nodes;          /* by index in the tree */
	uint8_t *selfs, *totals; /* by label */
	double greatest;         /* change of a label's total, in shares of 1, whichever way it went */
};

/*
 * samples: how many of them each side's weight stands for, which is the weight itself unless that is time. False
 * without memory; the object can be released all the same.
 */
bool verdicts_init(struct verdicts *v, const struct flame_tree *t, const double samples[PROFILE_SIDES]);
void verdicts_release(struct verdicts *v);

#endif
