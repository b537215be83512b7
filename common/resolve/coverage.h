/*
 * Counts the frames of each file that have a name and those that have none, with the reason.
 *
 *	struct tally t = { 0 };
 *	struct tally_count add = { .where = path, .why = slice_of("no-file"), .unnamed = 12 };
 *
 *	tally_add(&t, &add);
 *	const struct tally_count *all = tally_sorted(&t, &n);	// lent until the next call
 *	tally_release(&t);
 */
#ifndef CPROF_RESOLVE_COVERAGE_H
#define CPROF_RESOLVE_COVERAGE_H

#include "common/base/buf.h"
#include "common/base/intern.h"

/* Frames by the file they are in. */
struct tally_count {
	struct slice where;   /* path, "[kernel]", … */
	struct slice why;     /* reason for the unnamed: "no-file", … */
	uint64_t named, unnamed;
	bool by_path; /* names came from a file that only its path identifies */
};

struct tally {
	struct intern where; /* keys: why, NUL, where */
	struct intern by_path;
	struct tally_count *counts, *sorted;
	size_t cap;
	struct buf scratch;
};

/* Sums by where and why; copies the slices. Returns false if out of memory. */
bool tally_add(struct tally *t, const struct tally_count *add);
/* Returns *n counts: most unnamed first, then by name. Lent; NULL if out of memory. */
const struct tally_count *tally_sorted(struct tally *t, size_t *n);
/* Returns the number of files with by_path. */
size_t tally_by_path(const struct tally *t);
void tally_release(struct tally *t);

#endif
