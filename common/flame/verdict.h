/*
 * Significance of the differences between two sides: of each node's total, and of each name's self and total.
 *
 *	struct changes_setup setup = { .unit = { 1, 1 }, .timed = { true, true } };
 *	struct verdicts v;
 *
 *	if (!verdicts_init(&v, &tree, &setup)) ...out of memory...
 *	...v.nodes[i], v.selfs[label], v.totals[label]...
 *	verdicts_release(&v);
 *
 * Names are judged as in the table of a comparison, see stats/changes.h, and get the same verdicts. Nodes are
 * a separate family of tests with their own false discovery rate; but a node that has all samples of a name
 * gets the name's verdict. The burstiness of a node's samples is measured from those samples alone.
 */
#ifndef CPROF_FLAME_VERDICT_H
#define CPROF_FLAME_VERDICT_H

#include "common/flame/layout.h"
#include "common/stats/changes.h"

/* The numbers are those of the data block; see page_data.h. */
enum verdict { VERDICT_NONE, VERDICT_LESS, VERDICT_MORE, VERDICT_NEW, VERDICT_GONE };

struct verdicts {
	uint8_t *nodes;          /* by index in the tree */
	uint8_t *selfs, *totals; /* by label */
	double greatest; /* largest absolute change of a label's total, as a share from 0 to 1 */
	size_t names;    /* rows of the table */
	bool grey;       /* no node and no name changed */
};

/*
 * Judges all nodes and names. The tree must have its sums. Returns false if out of memory; release the object
 * in any case.
 */
bool verdicts_init(struct verdicts *v, const struct flame_tree *t, const struct changes_setup *setup);
void verdicts_release(struct verdicts *v);

#endif
