/*
 * A profile's moments as rows for a database: host, time, comm, pid, container, labels, stack and weight.
 *
 *	struct slice_rows w;
 *	struct slice bytes;
 *
 *	if (!slice_rows_init(&w, ROWS_TSV, &profile, &origins, view.moment_ns)) ...out of memory...
 *	while (slice_rows_next(&w, &bytes))
 *		...write them...
 *	if (slice_rows_failed(&w)) ...out of memory...
 *	slice_rows_release(&w);
 *
 * Unknown values are empty in TSV and null in JSON. JSON comes from json.h: if json_known is false, do not
 * ask for JSON.
 */
#ifndef CPROF_EXPORT_SLICE_ROWS_H
#define CPROF_EXPORT_SLICE_ROWS_H

#include "common/export/output_rows.h"
#include "common/views/slices.h"

/* The default length of a time slice, in nanoseconds. */
#define SLICE_ROWS_INTERVAL UINT64_C(10000000000)

struct slice_rows {
	struct slices slices;
	struct rows rows;
	bool ended;
};

/*
 * length: of a slice, in nanoseconds. Returns false if out of memory; the object can be released even then.
 */
bool slice_rows_init(struct slice_rows *w, enum rows_format format, const struct profile *p, const struct origins *o,
		      uint64_t length);
/* Sets *bytes to the next piece, valid until the next call; returns false at the end or if out of memory. */
bool slice_rows_next(struct slice_rows *w, struct slice *bytes);
bool slice_rows_failed(const struct slice_rows *w);
void slice_rows_release(struct slice_rows *w);

#endif
