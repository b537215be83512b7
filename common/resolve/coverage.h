/*
 * Counts the frames of each file that have a name and those that have none, with the reason.
 *
 *	struct coverage t = { 0 };
 *	struct coverage_count add = { .where = path, .why = slice_of("no-file"), .unnamed = 12 };
 *
 *	coverage_add(&t, &add);
 *	const struct coverage_count *all = coverage_sorted(&t, &n);	// lent until the next call
 *	coverage_release(&t);
 */
#ifndef CPROF_RESOLVE_COVERAGE_H
#define CPROF_RESOLVE_COVERAGE_H

#include "common/base/buf.h"
#include "common/base/intern.h"

/* Frames by the file they are in. */
struct coverage_count {
	struct slice where;   /* path, "[kernel]", … */
	struct slice why;     /* reason for the unnamed: "no-file", … */
	uint64_t named, unnamed;
	bool by_path; /* names came from a file that only its path identifies */
};

struct coverage {
	struct intern where; /* keys: why, NUL, where */
	struct intern by_path;
	struct coverage_count *counts, *sorted;
	size_t cap;
	struct buf scratch;
};

/* Sums by where and why; copies the slices. Returns false if out of memory. */
bool coverage_add(struct coverage *t, const struct coverage_count *add);
/* Returns *n counts: most unnamed first, then by name. Lent; NULL if out of memory. */
const struct coverage_count *coverage_sorted(struct coverage *t, size_t *n);
/* Returns the number of files with by_path. */
size_t coverage_by_path(const struct coverage *t);
void coverage_release(struct coverage *t);

#endif
