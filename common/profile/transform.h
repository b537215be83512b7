/*
 * A profile transformed before it is shown: stacks selected by name, cut, reversed, thinned out.
 *
 *	struct transform s = { .focus = &regex, .collapse = true, .min = 50000000 };
 *
 *	if (!transform_apply(&s, &profile)) ...out of memory...
 *
 * The transformations happen in the order of the members. Roots that are keys stay outermost. Each works on the
 * names that the step before has
 * left, so regular expressions see names without unstable numbers if norm is set. Afterwards the tree has no
 * node without weight below it, nodes have new numbers, and moments (profile.h) have moved along. Both sides
 * of a comparison are transformed alike.
 */
#ifndef CPROF_PROFILE_TRANSFORM_H
#define CPROF_PROFILE_TRANSFORM_H

#include <regex.h>

#include "common/profile/profile.h"
#include "common/profile/projection.h"

/* The name of the node that holds all that --min takes out of one place. */
#define TRANSFORM_OTHER "[other]"

/* One percent in the unit of min. */
enum { TRANSFORM_PERCENT = 1000000000 };

/* All zero: no transformation. The regular expressions stay the caller's. */
struct transform {
	/* Outermost frames of either of these labels get the label joined. */
	bool joins;
	uint32_t join[PROFILE_SIDES], joined;
	bool norm;                              /* removes unstable numbers from names; see strip_numbers.h */
	/* stacks with a frame of each of the first two, with none of the third */
	const regex_t *match, *focus, *exclude;
	/* stacks begin at their outermost frame of this name; stacks without it are left out */
	const regex_t *base;
	/*
	 * Keys to show the stacks by. The steps above look at the stacks as they are: at no root that is a
	 * key, and only at the first part of a label.
	 */
	struct projection by;
	bool collapse;       /* merges a frame into an equal one before it */
	bool reverse;        /* puts the innermost frame first */
	/*
	 * Billionths of a percent of a side's total. A node with less weight than this on every side, with
	 * all below it, goes into the sibling node TRANSFORM_OTHER, so that no sum changes.
	 */
	uint64_t min;
};

/* Returns whether any transformation is asked for. */
bool transform_asked(const struct transform *s);
/* Returns false if out of memory; the profile can be released even then. */
bool transform_apply(const struct transform *s, struct profile *p);

#endif
