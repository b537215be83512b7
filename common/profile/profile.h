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
 * Stacks of many segments, files and hosts meet here by name alone, so adding is commutative and
 * associative. Each node has two weights, for the two sides of a comparison; a caller with one side uses
 * side 0. A profile knows no unit: the weights are samples or nanoseconds, as the caller filled it.
 */
#ifndef CPROF_PROFILE_PROFILE_H
#define CPROF_PROFILE_PROFILE_H

#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"

enum {
	PROFILE_SIDES = 2,
	/* The longest line that every reader takes; the longest stack that leaves room for two counts. */
	PROFILE_LINE_MAX = (64 << 10) - 1,
	PROFILE_STACK_MAX = PROFILE_LINE_MAX - 1 - 20 - 1 - 20,
};

struct profile_node {
	uint32_t parent; /* always below the node's own number */
	uint32_t label;
	uint32_t first, next; /* first child, next sibling; 0: none */
	uint64_t self[PROFILE_SIDES]; /* weight of the stacks that end here */
};

/*
 * When weight came, if the caller asked for it (see moment_ns in view.h): the part of a node's self that fell
 * into one time slice of one run. Slices count from the run's first sample, or from the run's beginning if it
 * has waits. A capture is a run, and so is each of several that were concatenated into one file. Folded text
 * has no moments.
 */
struct profile_moment {
	uint32_t side, run, slice, node;
	uint32_t whole; /* not 0: the weight is spread evenly over this number of slices, from slice on */
	uint32_t origin; /* see origin.h; 0: none */
	uint64_t weight;
};

struct profile {
	struct intern labels; /* texts by label; label 0 is SANITIZE_CUT, for frames cut out */
	struct profile_node *nodes; /* nodes[0] is above all stacks and is no frame */
	size_t n, cap;
	struct idmap wide; /* parent and label to node, for parents with many children */
	uint64_t total[PROFILE_SIDES];   /* sum of self */
	uint64_t claimed[PROFILE_SIDES]; /* added, or announced to be added; see profile_claim */
	size_t stack_max; /* longest text of a stack; longer ones lose frames in the middle. 0: no limit */
	struct profile_moment *moments; /* unordered; only in a profile without stack_max */
	size_t n_moments, cap_moments;
	uint32_t runs; /* runs that have begun, of all sides: one that has no moment counts too */
	uint32_t *shortened, *path; /* room for profile_add and profile_add_at */
	size_t cap_shortened, cap_path;
};

/* Returns false if out of memory; the object can be released even then. */
bool profile_init(struct profile *p);
void profile_release(struct profile *p);
/* Removes all stacks, moments and labels, but keeps claimed; returns false if out of memory. */
bool profile_empty(struct profile *p);
/* Returns the bytes of memory that the tree and its names take. */
size_t profile_bytes(const struct profile *p);

/* Sets *label for a name that sanitize_append (sanitize.h) has cleaned; returns false if out of memory. */
bool profile_label(struct profile *p, struct slice name, uint32_t *label);
/* The same for n names. */
bool profile_labels(struct profile *p, const struct slice *names, size_t n, uint32_t *labels);
/* The text is valid as long as the profile. */
struct slice profile_text(const struct profile *p, uint32_t label);

/*
 * Announces weight that is to be added. Returns false if the sum would not fit into 64 bits; that weight
 * must not be added then. No sum over nodes can overflow after this.
 */
bool profile_claim(struct profile *p, unsigned int side, uint64_t weight);

/* Adds weight to a stack, outermost frame first; returns false if out of memory. */
bool profile_add(struct profile *p, const uint32_t *labels, size_t n, unsigned int side, uint64_t weight);
/*
 * The same in steps, for a caller that has already walked a part of the stack: from node 0 to a child, to its
 * child, …; then the weight is added there. bytes is the length of the stack's text, which decides whether
 * the stack must lose frames.
 */
bool profile_child(struct profile *p, uint32_t parent, uint32_t label, uint32_t *node);
bool profile_add_at(struct profile *p, uint32_t node, size_t bytes, unsigned int side, uint64_t weight);

/* Records when weight came that is added to a node; returns false if out of memory. */
bool profile_mark(struct profile *p, const struct profile_moment *moment);

/*
 * Adds all stacks and moments of another profile, whose weight has been claimed here. labels maps each label
 * of from to its label in p; NULL: labels are matched by text. Returns false if out of memory.
 */
bool profile_pour(struct profile *p, const struct profile *from, const uint32_t *labels);

typedef uint64_t profile_weight[PROFILE_SIDES];
/* Returns each node's weight with all below it; node 0 has the total. Free it. NULL if out of memory. */
profile_weight *profile_below(const struct profile *p);
/*
 * Visits all nodes along the tree: calls enter before the nodes below a node, leave after them. A counter
 * that enter raises and leave lowers counts the frames on the path to the node.
 */
void profile_walk(const struct profile *p, void (*enter)(void *context, uint32_t node),
		  void (*leave)(void *context, uint32_t node), void *context);

#endif
