/*
 * A profile as a table: for each name its own weight and the weight of all that it called.
 *
 *	struct table t;
 *
 *	if (!table_init(&t, &profile)) ...out of memory...
 *	for (i = 0; i < t.n; i++)
 *		t.rows[i].key = (double)t.rows[i].flat[0];
 *	table_sort(&t, &profile);
 *	table_release(&t);
 *
 * A stack in which a name occurs more than once adds to its cum once. The outermost frame of a stack is the
 * command that ran, not one of its functions; it is a row only if the stack has no other frame.
 */
#ifndef CPROF_VIEWS_TABLE_VIEW_H
#define CPROF_VIEWS_TABLE_VIEW_H

#include "common/profile/profile.h"

struct table_row {
	uint32_t label;
	uint64_t flat[PROFILE_SIDES]; /* weight of stacks that end in it */
	uint64_t cum[PROFILE_SIDES];  /* weight of stacks that contain it */
	double key, second;           /* set by the caller, for table_sort */
};

struct table {
	struct table_row *rows;
	size_t n;
};

/* Returns false if out of memory; the object can be released even then. */
bool table_init(struct table *t, const struct profile *p);
/* Sorts by key, then by second, the largest first; then by name. */
void table_sort(struct table *t, const struct profile *p);
void table_release(struct table *t);

#endif
