/*
 * The changes between two sides, as rows for programs.
 *
 *	struct rows r;
 *
 *	if (!changed_init(&r, ROWS_TSV)) ...built without JSON...
 *	for (i = 0; i < table.n; i++)
 *		changed_add(&r, &profile, &changes, &table.rows[i]);
 *	...the rest as in output_rows.h...
 *
 * Columns: name, changed (1 or 0), and then, both for flat and for cum: the weights of both sides, their
 * shares in percent, the change in percentage points with its interval, p, q, and the smallest growth that
 * would be detected.
 */
#ifndef CPROF_EXPORT_CHANGED_H
#define CPROF_EXPORT_CHANGED_H

#include "common/export/output_rows.h"
#include "common/stats/changes.h"

bool changed_init(struct rows *r, enum rows_format format);
void changed_add(struct rows *r, const struct profile *p, const struct changes *c, const struct table_row *row);

#endif
