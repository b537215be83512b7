/*
 * For each waker, as the view names it, the number of long waits that it ended, and the longest of them.
 *
 *	struct waker_rows rows = { 0 };
 *
 *	waker_rows_add(&rows, slice_of("[timer]"), ns);		// each wait
 *	row = waker_rows_find(&rows, slice_of("[timer]"));
 *	waker_rows_release(&rows);
 */
#ifndef CPROF_BLAME_WAKER_ROWS_H
#define CPROF_BLAME_WAKER_ROWS_H

#include "common/base/intern.h"

struct waker_row {
	uint64_t waits, longest; /* number, ns */
};

/* All zero to begin with. */
struct waker_rows {
	struct intern names;
	struct waker_row *rows; /* by name */
	size_t cap;
};

/* Returns false if out of memory. */
bool waker_rows_add(struct waker_rows *r, struct slice name, uint64_t ns);
/* Returns a row of zeros for an unknown name. */
struct waker_row waker_rows_find(const struct waker_rows *r, struct slice name);
void waker_rows_release(struct waker_rows *r);

#endif
