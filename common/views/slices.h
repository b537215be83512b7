/*
 * A profile as rows of time, origin, stack and weight, for a database.
 *
 *	struct slices m;
 *	struct slices_row row;
 *
 *	if (!slices_init(&m, &profile, &origins, view.moment_ns)) ...out of memory...
 *	while (slices_next(&m, &row))
 *		...
 *	if (m.failed) ...out of memory...
 *	slices_release(&m);
 *
 * Rows come by time, host, container, labels, command, process and stack, each combination once. Their
 * weights add up to side 0 of the profile. Weight without moments, from folded text, has rows without an
 * origin.
 */
#ifndef CPROF_VIEWS_SLICES_H
#define CPROF_VIEWS_SLICES_H

#include "common/gather/origin.h"
#include "common/profile/profile.h"

struct slices_row {
	const struct origin *origin; /* NULL: unknown */
	uint64_t time;               /* beginning of the slice, nanoseconds since 1970; 0: unknown */
	struct slice stack;          /* as folded text has it; valid until the next call */
	uint64_t weight;
};

struct slices {
	const struct profile *p;
	const struct origins *origins;
	struct slices_entry {
		uint64_t time, weight;
		uint32_t origin; /* 0: unknown */
		uint32_t place;  /* in the order of origins */
		uint32_t rank;   /* in the order of stacks */
		uint32_t node;
	} *entries;
	size_t n, at, cap;
	struct buf stack;
	bool failed;
};

bool slices_init(struct slices *m, const struct profile *p, const struct origins *o, uint64_t length);
bool slices_next(struct slices *m, struct slices_row *row);
void slices_release(struct slices *m);

#endif
