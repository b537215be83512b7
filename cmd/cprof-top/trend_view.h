/*
 * cprof-top --every: the weight of each row of the table in intervals of time.
 *
 *	trend_text(&views, &out);	// views.every and views.origins are set
 */
#ifndef CPROF_TOP_TREND_VIEW_H
#define CPROF_TOP_TREND_VIEW_H

#include "cmd/cprof-top/views.h"
#include "common/views/brief.h"
#include "common/views/trend.h"

/* The rows shown and their trend. */
struct trend_view {
	struct table table;
	size_t shown;
	struct trend trend;
};

/* Exits if out of memory, or if there are too many intervals. */
void trend_view_init(struct trend_view *t, const struct views *v);
void trend_view_release(struct trend_view *t);
/* Returns the weight of a row in an interval; row == shown: that of all rows that are not shown. */
uint64_t trend_view_weight(const struct trend_view *t, size_t row, uint64_t interval);

/* A row for each name if the intervals fit a line, otherwise a row for each interval. */
void trend_text(const struct views *v, struct buf *out);
/* Adds a section of lines with this priority: a line for each interval. */
void trend_brief(const struct views *v, struct brief *b, size_t priority);

#endif
