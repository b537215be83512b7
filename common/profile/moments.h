/*
 * A profile as rows of when, where, which stack and how much: what a database wants.
 *
 *	struct moments m;
 *	struct moments_row row;
 *
 *	if (!moments_init(&m, &profile, &origins, view.moment_ns)) ...out of memory...
 *	while (moments_next(&m, &row))
 *		...
 *	if (m.failed) ...out of memory...
 *	moments_release(&m);
 *
 * Rows come by time, host, container, command, process and stack, each combination once; their weights add up to the
 * profile's, of side 0. Weight that came without moments, of folded text, has rows without an origin.
 */
#ifndef CPROF_PROFILE_MOMENTS_H
#define CPROF_PROFILE_MOMENTS_H

#include "common/profile/origin.h"
#include "common/profile/profile.h"

struct moments_row {
	const struct origin *origin; /* NULL: unknown */
	uint64_t time;               /* beginning of the slice, nanoseconds since 1970; 0: unknown */
	struct slice stack;          /* as folded text has it; good until the next call */
	uint64_t weight;
};

struct moments {
	const struct profile *p;
	const struct origins *origins;
	struct moments_entry {
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

bool moments_init(struct moments *m, const struct profile *p, const struct origins *o, uint64_t length);
bool moments_next(struct moments *m, struct moments_row *row);
void moments_release(struct moments *m);

#endif
