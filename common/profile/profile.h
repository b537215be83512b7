/*
 * A profile: a tree of frames by name, with the weight of the stacks that end at each node.
 *
 *	struct profile p;
 *	uint32_t labels[2], n = 0;
 *
 *	profile_init(&p);
 *	profile_label(&p, slice_of("make"), &labels[n++]);
 *	profile_label(&p, slice_of("main"), &labels[n++]);
 *	profile_add(&p, labels, n, 0, 5);
 *	...
 *	profile_release(&p);
 *
 * Stacks of many segments, files and hosts meet here by name and by nothing else, so adding is
 * commutative and associative. Each node has two weights, for the two sides of a comparison; who
 * has one side uses side 0. A profile knows no unit: samples or nanoseconds, as the caller filled it.
 */
#ifndef CPROF_PROFILE_PROFILE_H
#define CPROF_PROFILE_PROFILE_H

#include "common/base/buf.h"
#include "common/base/hash.h"

enum {
	PROFILE_SIDES = 2,
	/* A line that every reader takes, and the text of a stack that leaves room in it for any two counts. */
	PROFILE_LINE_MAX = (64 << 10) - 1,
	PROFILE_STACK_MAX = PROFILE_LINE_MAX - 1 - 20 - 1 - 20,
};

struct profile_node {
	uint32_t parent; /* always below the node's own number */
	uint32_t label;
	uint32_t first, next; /* first child, next sibling; 0: none */
	uint64_t self[PROFILE_SIDES]; /* of the stacks that end here */
};

/*
 * When weight came, for who asked for it (see moment_ns in gather.h): what a node's self weighs in one slice of
 * time of one run. Slices count from the run's first sample, or from its beginning where it has waits. A capture is a run; so is each of those that were
 * concatenated into one file. For folded text there are none.
 */
struct profile_moment {
	uint32_t side, run, slice, node;
	uint32_t origin; /* see origin.h; 0: none */
	uint64_t weight;
};

struct profile {
	struct intern labels; /* texts by label; label 0 is what stands for frames cut out */
	struct profile_node *nodes; /* nodes[0] is above all stacks and is no frame */
	size_t n, cap;
	struct idmap wide; /* parent and label to node, for parents with many children */
	uint64_t total[PROFILE_SIDES];   /* sum of self */
	uint64_t claimed[PROFILE_SIDES]; /* what was or will be added; see profile_claim */
	size_t stack_max; /* longest text of a stack; longer ones lose frames in the middle. 0: no limit */
	struct profile_moment *moments; /* in no order; nodes of a profile without stack_max */
	size_t n_moments, cap_moments;
	uint32_t runs; /* runs that have begun, of all sides: one that has no moment counts too */
	uint32_t *shortened, *path; /* room for profile_add and profile_add_at */
	size_t cap_shortened, cap_path;
};

/* False without memory; the object can be released all the same. */
bool profile_init(struct profile *p);
void profile_release(struct profile *p);
/* Forgets all stacks, moments and labels, but not what was claimed; false without memory. */
bool profile_empty(struct profile *p);
/* What the tree and its names take. */
size_t profile_bytes(const struct profile *p);

/* The number of a name that label_append (label.h) has made fit; false without memory. */
bool profile_label(struct profile *p, struct slice name, uint32_t *label);
bool profile_labels(struct profile *p, const struct slice *names, size_t n, uint32_t *labels); /* the same for many */
struct slice profile_text(const struct profile *p, uint32_t label);

/*
 * Announces weight that is to be added. False where the sum would not fit into 64 bits: that weight
 * must not be added then. No sum over nodes can overflow after this.
 */
bool profile_claim(struct profile *p, unsigned int side, uint64_t weight);

/* Adds weight to a stack, outermost frame first; false without memory. */
bool profile_add(struct profile *p, const uint32_t *labels, size_t n, unsigned int side, uint64_t weight);
/*
 * The same in steps, for who has walked a part of the stack before: from node 0 to a child, to its
 * child, …; then the weight is added there. bytes is the length of the stack's text, without which
 * nobody knows whether it must lose frames.
 */
bool profile_child(struct profile *p, uint32_t parent, uint32_t label, uint32_t *node);
bool profile_add_at(struct profile *p, uint32_t node, size_t bytes, unsigned int side, uint64_t weight);

/* Notes when weight came that is added to a node; false without memory. */
bool profile_mark(struct profile *p, const struct profile_moment *moment);

/*
 * Adds all stacks and moments of another profile; their weight has been claimed. labels: for each label of from the
 * one that it gets here; NULL: the one of the same text. False without memory.
 */
bool profile_pour(struct profile *p, const struct profile *from, const uint32_t *labels);

typedef uint64_t profile_weight[PROFILE_SIDES];
/* By node: its weight with all below it; that of node 0 is the total. The caller's to free; NULL without memory. */
profile_weight *profile_below(const struct profile *p);
/*
 * Goes through all nodes by the tree: enter before what is below a node, leave behind it. So who counts up in the
 * one and down in the other knows what stands on the way to the node.
 */
void profile_walk(const struct profile *p, void (*enter)(void *context, uint32_t node),
		  void (*leave)(void *context, uint32_t node), void *context);

#endif
