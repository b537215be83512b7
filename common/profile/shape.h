/*
 * A profile made over before it is shown: stacks chosen by their names, cut, turned, thinned out.
 *
 *	struct shape s = { .focus = &regex, .collapse = true, .min = 50000000 };
 *
 *	if (!shape_apply(&s, &profile)) ...out of memory...
 *
 * What is asked for happens in the order of the members. The names are those that the step before has left, so
 * regular expressions meet names without unstable numbers where norm is set. Nothing is left in the tree that has
 * no weight below it; nodes have new numbers afterwards, and moments (profile.h) have moved along. Both sides of a
 * comparison are made over alike.
 */
#ifndef CPROF_PROFILE_SHAPE_H
#define CPROF_PROFILE_SHAPE_H

#include <regex.h>

#include "common/profile/profile.h"

/* What stands for all that --min takes out of one place. */
#define SHAPE_OTHER "[other]"

/* One percent, as min is counted. */
enum { SHAPE_PERCENT = 1000000000 };

/* All zero: nothing is asked for. The regular expressions are lent. */
struct shape {
	bool norm;                              /* names lose unstable numbers; see norm.h */
	const regex_t *match, *focus, *exclude; /* stacks with a frame of each of the first two, with none of the third */
	const regex_t *base; /* stacks begin at their outermost frame of this name; those without are left out */
	bool collapse;       /* frames that follow upon their equal become one with it */
	bool reverse;        /* the innermost frame comes first */
	/*
	 * Billionths of a percent of a side's total: a node whose weight, with all below it, has less on every side goes
	 * into the node SHAPE_OTHER beside it, so that no sum changes.
	 */
	uint64_t min;
};

/* Is anything asked for? */
bool shape_asked(const struct shape *s);
/* False without memory; the profile can be released all the same. */
bool shape_apply(const struct shape *s, struct profile *p);

#endif
