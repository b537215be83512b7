/*
 * What one file of folded text has added to a profile.
 *
 *	struct added a;
 *
 *	if (!added_begin(&a, &profile, side)) ...out of memory...
 *	...folded_read...
 *	added_end(&a, &profile);
 *	if (!added_mark(&a, &profile)) ...out of memory...	// as a run of its own (struct profile_moment)
 *	added_release(&a);
 *
 * Text does not say what its counts are. Those that are all multiples of one large number are no counts of samples but
 * the time or the events that they stand for, so many for each: then that number is the unit.
 */
#ifndef CPROF_STATS_ADDED_H
#define CPROF_STATS_ADDED_H

#include "common/profile/profile.h"

enum { ADDED_UNIT_LEAST = 1000 }; /* a common divisor below this may be chance */

struct added {
	unsigned int side;
	uint64_t *before; /* self of each node that there was */
	size_t n;
	uint64_t weight; /* added */
	uint64_t unit;   /* greatest common divisor of what each stack got; 0 where none got anything */
};

/* False without memory; the object can be released all the same. */
bool added_begin(struct added *a, const struct profile *p, unsigned int side);
void added_end(struct added *a, const struct profile *p);
/* False without memory. */
bool added_mark(const struct added *a, struct profile *p);
void added_release(struct added *a);

#endif
