/*
 * A profile as a table: for each name the weight of its own and that of all it called.
 *
 *	struct table t;
 *
 *	if (!table_init(&t, &profile)) ...out of memory...
 *	for (i = 0; i < t.n; i++)
 *		t.rows[i].key = (double)t.rows[i].flat[0];
 *	table_sort(&t, &profile);
 *	table_release(&t);
 *
 * A stack in which a name stands more than once adds to its cum once. The outermost frame of a stack
 * is the command that ran and not a function of it, so it is no row, unless the stack has no other.
 */
#ifndef CPROF_PROFILE_TABLE_H
#define CPROF_PROFILE_TABLE_H

#include "common/profile/profile.h"

struct table_row {
	uint32_t label;
	uint64_t flat[PROFILE_SIDES]; /* of stacks that end in it */
	uint64_t cum[PROFILE_SIDES];  /* of stacks that hold it */
	double key, second;           /* the caller's, for table_sort */
};

struct table {
	struct table_row *rows;
	size_t n;
};

/* False without memory; the object can be released all the same. */
bool table_init(struct table *t, const struct profile *p);
/* By key, then by second, the largest first; then by name. */
void table_sort(struct table *t, const struct profile *p);
void table_release(struct table *t);

#endif
