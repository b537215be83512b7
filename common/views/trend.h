/*
 * A profile's moments as a trend: the weight of some names in intervals of the clock.
 *
 *	struct trend t;
 *
 *	if (!trend_init(&t, &profile, &origins, 60000000000, labels, n, false)) ...out of memory...
 *	if (!t.cells) ...there are too many intervals...
 *	for (i = 0; i < t.intervals; i++)
 *		...t.cells[row * t.intervals + i] of t.total[i] came from (t.first + i) * t.length on...
 *	trend_release(&t);
 */
#ifndef CPROF_VIEWS_TREND_H
#define CPROF_VIEWS_TREND_H

#include "common/gather/origin.h"
#include "common/profile/profile.h"

enum { TREND_INTERVALS = 10000 };

struct trend {
	uint64_t length;    /* nanoseconds of an interval */
	uint64_t first;     /* number of the first interval since 1970, or in the capture if unknown */
	uint64_t intervals;
	uint64_t *total;    /* weight of all names, by interval */
	uint64_t *cells;    /* by row and interval; NULL: there are more than TREND_INTERVALS */
};

/*
 * length: of an interval. The profile's moments have it too, and are aligned to multiples of it. labels: the names, one a row. cum: the
 * weight of stacks that contain the name, as table_view.h has it; otherwise of those that end in it. Returns
 * false if out of memory; the object can be released even then.
 */
bool trend_init(struct trend *t, const struct profile *p, const struct origins *o, uint64_t length,
		const uint32_t *labels, size_t rows, bool cum);
void trend_release(struct trend *t);

#endif
