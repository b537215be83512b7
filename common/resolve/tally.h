/*
 * How many frames of each file have a name and how many have none, and why.
 *
 *	struct tally t = { 0 };
 *	struct tally_count add = { .where = path, .why = slice_of("no-file"), .unnamed = 12 };
 *
 *	tally_add(&t, &add);
 *	const struct tally_count *all = tally_sorted(&t, &n);	// lent until the next call
 *	tally_release(&t);
 */
#ifndef CPROF_RESOLVE_TALLY_H
#define CPROF_RESOLVE_TALLY_H

#include "common/base/buf.h"
#include "common/base/hash.h"

/* Frames that were looked at, by where they lay. */
struct tally_count {
	struct slice where;   /* path, "[kernel]", … */
	struct slice why;     /* "no-file", … ; of the unnamed */
	uint64_t named, unnamed;
	bool by_path; /* names came from a file of which nothing but the path says that it is the right one */
};

struct tally {
	struct intern where; /* keys: why, NUL, where */
	struct intern by_path;
	struct tally_count *counts, *sorted;
	size_t cap;
	struct buf scratch;
};

/* Sums by where and why; the slices are copied. False without memory. */
bool tally_add(struct tally *t, const struct tally_count *add);
/* Most unnamed first, then by name. Lent; NULL without memory. */
const struct tally_count *tally_sorted(struct tally *t, size_t *n);
/* The number of files that are by_path there. */
size_t tally_by_path(const struct tally *t);
void tally_release(struct tally *t);

#endif
