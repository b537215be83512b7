/*
 * The weights that one file of folded text added to a profile.
 *
 *	struct added a;
 *
 *	if (!added_begin(&a, &profile, side)) ...out of memory...
 *	...folded_read...
 *	added_end(&a, &profile);
 *	if (!added_mark(&a, &profile)) ...out of memory...	// as a run of its own (struct profile_moment)
 *	added_release(&a);
 *
 * Folded text does not record the unit of its counts. If all counts are multiples of one large number, they
 * are not samples but times or events: each sample stands for that many. The number is then the unit.
 */
#ifndef CPROF_STATS_ADDED_H
#define CPROF_STATS_ADDED_H

#include "common/profile/profile.h"

enum { ADDED_UNIT_LEAST = 1000 }; /* a common divisor below this may be chance */

struct added {
	unsigned int side;
	uint64_t *before; /* self weight of each node before */
	size_t n;
	uint64_t weight; /* weight added */
	uint64_t unit;   /* greatest common divisor of the added weights; 0: none */
};

/* Notes the weights of one side before reading. Returns false if out of memory; release it in any case. */
bool added_begin(struct added *a, const struct profile *p, unsigned int side);
/* Sets weight and unit after reading. */
void added_end(struct added *a, const struct profile *p);
/* Adds the new weights to the profile as the moments of a new run. Returns false if out of memory. */
bool added_mark(const struct added *a, struct profile *p);
void added_release(struct added *a);

#endif
