/*
 * A profile laid out for drawing: nodes in pre-order, siblings by name, and labels with their kinds.
 *
 *	struct flame_tree t;
 *
 *	if (!flame_tree_init(&t, &profile, false, false) || !flame_tree_sum(&t)) ...out of memory...
 *	for (size_t i = 1; i < t.n; i++)
 *		...flame_label(&t, i)->text, flame_total(&t, i)[0]...
 *	flame_tree_release(&t);
 *
 * It is made from the profile's tree and never from lines of text: one function under one caller is one box,
 * wherever its name sorts. Labels may have two parts, name and module (gather_names.h): functions of one name
 * in several modules are several labels. Nodes without weight at or below them are left out. The bytes depend
 * only on the contents of the profile, not on the order in which they were added.
 */
#ifndef CPROF_FLAME_LAYOUT_H
#define CPROF_FLAME_LAYOUT_H

#include "common/flame/kind.h"
#include "common/profile/profile.h"

struct flame_label {
	struct slice text; /* without suffix; valid while profile and tree exist */
	struct slice module; /* second part of the profile's label, without suffix; empty: none */
	enum kind kind;
};

/* The children of the node at index i begin at i + 1; the node after its subtree is at i + size. */
struct flame_node {
	uint32_t node;  /* node of the profile */
	uint32_t label; /* sorted by text, then kind, then module */
	uint32_t children;
	uint32_t size; /* number of nodes in the subtree, including this one */
};

struct flame_tree {
	const struct profile *p; /* lent, or merged */
	struct flame_label *labels;
	size_t n_labels;
	struct flame_node *nodes; /* nodes[0] is the root above all stacks and not a frame */
	size_t n;
	uint64_t (*totals)[PROFILE_SIDES]; /* by node of the profile: its subtree's weight; flame_tree_sum */
	bool reversed; /* stacks begin with the innermost frame and end with the process */
	struct profile merged; /* used if several names of the profile look the same */
	bool has_merged;
};

/*
 * Lays out the profile, which must not change afterwards. one_kind: frames with the same name are one frame
 * whatever their kind, for input of which only a part has kinds. reversed: stacks begin with their innermost
 * frame and end with the process. Returns false if out of memory; release the object in any case.
 */
bool flame_tree_init(struct flame_tree *t, const struct profile *p, bool one_kind, bool reversed);
/*
 * Computes the totals for flame_total. Not all pictures need them, and for a large tree they are a fifth of
 * the work. Returns false if out of memory.
 */
bool flame_tree_sum(struct flame_tree *t);
void flame_tree_release(struct flame_tree *t);

/* The label of the node at index i. */
static inline const struct flame_label *flame_label(const struct flame_tree *t, size_t i)
{
	return &t->labels[t->nodes[i].label];
}

/* The weight of the node's subtree on each side; requires flame_tree_sum. */
static inline const uint64_t *flame_total(const struct flame_tree *t, size_t i)
{
	return t->totals[t->nodes[i].node];
}

/* The node's own weight on each side. */
static inline const uint64_t *flame_self(const struct flame_tree *t, size_t i)
{
	return t->p->nodes[t->nodes[i].node].self;
}

/*
 * Returns, by node of the profile, its index in this tree, or 0 if it was left out. The caller frees it.
 * NULL: out of memory.
 */
uint32_t *flame_tree_places(const struct flame_tree *t);

#endif
