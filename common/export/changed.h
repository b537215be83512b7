/*
 * The changes between two sides, as rows for programs.
 *
 *	struct rows r;
 *
 *	if (!changed_init(&r, ROWS_TSV, columns, 0)) ...built without JSON...
 *	for (i = 0; i < table.n; i++)
 *		changed_add(&r, &profile, &changes, &table.rows[i], 0);
 *	...the rest as in output_rows.h...
 *
 * Columns: name, or those of several keys (projection.h); changed (1 or 0), and then, both for flat and for cum:
 * the weights of both sides, their shares in percent, the change in percentage points with its interval, p, q, and the smallest growth that
 * would be detected.
 */
#ifndef CPROF_EXPORT_CHANGED_H
#define CPROF_EXPORT_CHANGED_H

#include "common/export/output_rows.h"
#include "common/stats/changes.h"

enum { CHANGED_COLUMNS = 22 }; /* besides those of keys */

/*
 * columns: room for the keys and CHANGED_COLUMNS more, valid until the end. If there are several keys, the
 * caller has set their names.
 */
bool changed_init(struct rows *r, enum rows_format format, const char **columns, size_t n_keys);
void changed_add(struct rows *r, const struct profile *p, const struct changes *c,
		 const struct table_row *row, size_t n_keys);

#endif
