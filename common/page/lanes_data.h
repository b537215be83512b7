/*
 * The part of a page's data that says which thread and CPU each moment belongs to, and that has waits and the
 * ledger in order of time.
 *
 *	lanes_data_append(&raw, picture.moments);
 *
 * Numbers are varints, texts as in page_data.h.
 *
 *	texts       their number, then the texts that origins use
 *	origins     their number, then for each: host, container and comm as numbers of texts, pid, tid,
 *	            CPU + 1 (0: unknown)
 *	column      for each moment, the number of its origin
 *	spans       their number, then for each: slice minus that of the previous span, number of slices,
 *	            node, origin, weight. Slice i of n has floor(weight * (i + 1) / n) - floor(weight * i / n)
 *	starts      for each run, the first one too: milliseconds since 1970 at its first slice; 0: unknown
 *	outcomes    their number, then their names
 *	ticks       their number, then for each: slice minus that of the previous one, number of slices,
 *	            outcome, count, evenly spread
 */
#ifndef CPROF_PAGE_LANES_DATA_H
#define CPROF_PAGE_LANES_DATA_H

#include "common/flame/heatmap_data.h"

/* Sets out->failed if out of memory. */
void lanes_data_append(struct buf *out, const struct heatmap_data *m);

#endif
