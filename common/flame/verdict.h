/*
 * Which differences between two sides are more than chance: of each node's total, and of the self and the total of
 * each name.
 *
 *	struct changes_setup setup = { .unit = { 1, 1 }, .timed = { true, true } };
 *	struct verdicts v;
 *
 *	if (!verdicts_init(&v, &tree, &setup)) ...out of memory...
 *	...v.nodes[i], v.selfs[label], v.totals[label]...
 *	verdicts_release(&v);
 *
 * Names are judged as the table of a comparison is, see stats/changes.h: with the same verdicts. Nodes are a family
 * of tests of their own under control of false discoveries; but a node that has all samples of a name has its verdict.
 * How much a node's samples come in bursts is measured of them alone.
 */
#ifndef CPROF_FLAME_VERDICT_H
#define CPROF_FLAME_VERDICT_H

#include "common/flame/tree.h"
#include "common/stats/changes.h"

/* The numbers are those of the data block; see block.h. */
enum verdict { VERDICT_NONE, VERDICT_LESS, VERDICT_MORE, VERDICT_NEW, VERDICT_GONE };

struct verdicts {
	uint8_t *nodes;          /* by index in the tree */
	uint8_t *selfs, *totals; /* by label */
	double greatest; /* change of a label's total, in shares of 1, whichever way it went */
};

/* The tree has its sums. False without memory; the object can be released all the same. */
bool verdicts_init(struct verdicts *v, const struct flame_tree *t, const struct changes_setup *setup);
void verdicts_release(struct verdicts *v);

#endif
