/*
 * The call tree, line by line: each frame with its own weight and that of all below it, the heaviest children
 * first, then by name.
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
 * Nothing is left out silently: children that weigh too little become one line after their siblings.
 */
#ifndef CPROF_VIEWS_TREE_VIEW_H
#define CPROF_VIEWS_TREE_VIEW_H

#include "common/profile/profile.h"

struct tree_line {
	uint32_t node;       /* the frame; in a line for several frames their parent */
	uint32_t depth;      /* 0: the outermost frame */
	size_t more;         /* 0: a frame; otherwise the number of frames that weigh too little */
	uint64_t self, total; /* weight of side 0; for several frames the sums */
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
 * least: children with a smaller total are merged into one line; depth: the number of levels to show, 0 for
 * all. Returns false if out of memory; the object can be released even then. The profile must not change
 * meanwhile.
 */
bool tree_init(struct tree *t, const struct profile *p, uint64_t least, uint32_t depth);
/* Sets *line to the next line; returns false at the end, or with t->failed if out of memory. */
bool tree_next(struct tree *t, struct tree_line *line);
void tree_release(struct tree *t);

#endif
