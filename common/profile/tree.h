/*
 * The tree of calls, line by line: each frame with its own weight and that of all below it, the heaviest
 * children first, then by name.
 *
 *	struct tree t;
 *	struct tree_line line;
 *
 *	if (!tree_init(&t, &profile, least, 0)) ...out of memory...
 *	while (tree_next(&t, &line))
 *		...line.depth, line.node, line.self, line.total...
 *	if (t.failed) ...out of memory...
 *	tree_release(&t);
 *
 * Nothing is left out unsaid: children that weigh too little are one line behind their siblings.
 */
#ifndef CPROF_PROFILE_TREE_H
#define CPROF_PROFILE_TREE_H

#include "common/profile/profile.h"

struct tree_line {
	uint32_t node;       /* of a line that stands for several: the one that they are below */
	uint32_t depth;      /* 0: the outermost frame */
	size_t more;         /* 0: a frame; else so many of them that weigh too little */
	uint64_t self, total; /* of side 0; of several: the sums */
};

struct tree {
	const struct profile *p;
	uint64_t least;
	uint32_t depth;
	profile_weight *totals; /* by node */
	uint32_t *nodes;  /* the children of each open node, in order */
	size_t n, cap;
	struct tree_level {
		uint32_t parent;
		size_t next, end; /* in nodes */
		struct tree_line rest;
	} *levels;
	size_t n_levels, cap_levels;
	bool failed;
};

/*
 * least: a child with less in total is one of several; depth: so many levels are shown, 0 all. False without
 * memory; the object can be released all the same. The profile must not change meanwhile.
 */
bool tree_init(struct tree *t, const struct profile *p, uint64_t least, uint32_t depth);
/* False at the end, and without memory. */
bool tree_next(struct tree *t, struct tree_line *line);
void tree_release(struct tree *t);

#endif
