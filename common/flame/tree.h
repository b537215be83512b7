/*
 * A profile as it is drawn: nodes in pre-order, siblings by name, labels with what kind of frame they are.
 *
 *	struct flame_tree t;
 *
 *	if (!flame_tree_init(&t, &profile, false, false) || !flame_tree_sum(&t)) ...out of memory...
 *	for (size_t i = 1; i < t.n; i++)
 *		...flame_label(&t, i)->text, flame_total(&t, i)[0]...
 *	flame_tree_release(&t);
 *
 * It is made of the tree of the profile and never of lines of text: one function below one caller is one box,
 * whatever its name sorts like. Nodes without weight below them are left out. The bytes depend on what the
 * profile holds alone, and not on the order in which it came.
 */
#ifndef CPROF_FLAME_TREE_H
#define CPROF_FLAME_TREE_H

#include "common/flame/kind.h"
#include "common/profile/profile.h"

struct flame_label {
	struct slice text; /* without suffix; lives as long as the profile and the tree do */
	enum kind kind;
};

/* The node at index i has its children from i + 1 on; what comes after all below it is at i + size. */
struct flame_node {
	uint32_t node;  /* of the profile */
	uint32_t label; /* sorted by text, then kind, in that order */
	uint32_t children;
	uint32_t size; /* nodes of the subtree, this one included */
};

struct flame_tree {
	const struct profile *p; /* lent, or merged */
	struct flame_label *labels;
	size_t n_labels;
	struct flame_node *nodes; /* nodes[0] is above all stacks and is no frame */
	size_t n;
	uint64_t (*totals)[PROFILE_SIDES]; /* by node of the profile: its weight with all below it; see flame_tree_sum */
	bool reversed; /* the innermost frame is the first: what ran is last */
	struct profile merged; /* where names that are one to the eye were several in the profile */
	bool has_merged;
};

/*
 * The profile must not change afterwards. one_kind: one name is one frame, of whatever kind: for where some of the
 * input tells kinds and some does not. reversed: stacks begin with their innermost frame, what ran is last. False
 * without memory; the object can be released all the same.
 */
bool flame_tree_init(struct flame_tree *t, const struct profile *p, bool one_kind, bool reversed);
/* What flame_total asks: not all pictures do, and of a large tree it is a fifth of the work. False without memory. */
bool flame_tree_sum(struct flame_tree *t);
void flame_tree_release(struct flame_tree *t);

static inline const struct flame_label *flame_label(const struct flame_tree *t, size_t i)
{
	return &t->labels[t->nodes[i].label];
}

static inline const uint64_t *flame_total(const struct flame_tree *t, size_t i)
{
	return t->totals[t->nodes[i].node];
}

static inline const uint64_t *flame_self(const struct flame_tree *t, size_t i)
{
	return t->p->nodes[t->nodes[i].node].self;
}

/* By node of the profile: its index here, 0 where it was left out. To be freed; NULL without memory. */
uint32_t *flame_tree_places(const struct flame_tree *t);

#endif
