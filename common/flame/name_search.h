/*
 * Search: the names that match a regular expression, and the share of stacks that contain one.
 *
 *	struct search found = { 0 };
 *	const char *why = search_init(&found, "^alloc");
 *
 *	if (why) ...invalid regular expression...
 *	if (!search_apply(&found, &picture)) ...out of memory...
 *	...draw...
 *	search_release(&found);
 *
 * Expressions have the syntax of grep -E. They are case-sensitive if they contain a capital letter. The page
 * uses JavaScript's syntax instead; only plain mistakes are checked here.
 */
#ifndef CPROF_FLAME_NAME_SEARCH_H
#define CPROF_FLAME_NAME_SEARCH_H

#include <regex.h>

#include "common/flame/picture.h"

struct search {
	const char *text; /* lent */
	regex_t expression;
	bool compiled;
	bool *matches; /* by label */
	char why[200];
};

/* Compiles the expression. Returns NULL, or why it is invalid; the message is valid until search_release. */
const char *search_init(struct search *s, const char *text);
/*
 * Sets the picture's matches and adds their share as a fact. The tree must have its sums. Returns false if
 * out of memory.
 */
bool search_apply(struct search *s, struct picture *pic);
void search_release(struct search *s);

/*
 * For JavaScript expressions: returns a message about an unbalanced bracket or backslash, or NULL. The
 * message is static.
 */
const char *search_broken(const char *text);

#endif
