/*
 * Searching: which names match a regular expression, and what share of all has one of them in its stack.
 *
 *	struct search found = { 0 };
 *	const char *why = search_init(&found, "^alloc");
 *
 *	if (why) ...it is no regular expression...
 *	if (!search_apply(&found, &picture)) ...out of memory...
 *	...draw...
 *	search_release(&found);
 *
 * Expressions are of the kind of grep -E; capitals matter once there are any. The page has JavaScript's instead, of
 * which only what is plainly broken is known here.
 */
#ifndef CPROF_FLAME_SEARCH_H
#define CPROF_FLAME_SEARCH_H

#include <regex.h>

#include "common/flame/picture.h"

struct search {
	const char *text; /* lent */
	regex_t expression;
	bool compiled;
	bool *matches; /* by label */
	char why[200];
};

/* NULL: good; else why it is not. */
const char *search_init(struct search *s, const char *text);
/* The picture, whose tree has its sums, gets the matches, and their share as a fact. False without memory. */
bool search_apply(struct search *s, struct picture *pic);
void search_release(struct search *s);

/* Of JavaScript: what is unbalanced in it, NULL where nothing is. */
const char *search_broken(const char *text);

#endif
