/*
 * A profile as rows of when, where, which stack and how much: what a database wants.
 *
 *	struct timetable m;
 *	struct timetable_row row;
 *
 *	if (!timetable_init(&m, &profile, &origins, view.moment_ns)) ...out of memory...
 *	while (timetable_next(&m, &row))
 *		...
 *	if (m.failed) ...out of memory...
 *	timetable_release(&m);
 *
 * Rows come by time, host, container, command, process and stack, each combination once; their weights add up to the
 * profile's, of side 0. Weight that came without moments, of folded text, has rows without an origin.
 */
#ifndef CPROF_PROFILE_TIMETABLE_H
#define CPROF_PROFILE_TIMETABLE_H

#include "common/profile/origin.h"
#include "common/profile/profile.h"

struct timetable_row {
	const struct origin *origin; /* NULL: unknown */
	uint64_t time;               /* beginning of the slice, nanoseconds since 1970; 0: unknown */
	struct slice stack;          /* as folded text has it; good until the next call */
	uint64_t weight;
};

struct timetable {
	const struct profile *p;
	const struct origins *origins;
	struct timetable_entry {
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

bool timetable_init(struct timetable *m, const struct profile *p, const struct origins *o, uint64_t length);
bool timetable_next(struct timetable *m, struct timetable_row *row);
void timetable_release(struct timetable *m);

#endif
