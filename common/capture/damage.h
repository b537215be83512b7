/*
 * What is missing of captures because they were damaged or cut, as one text for every ledger that people read.
 *
 *	if (damage_append(&text, &totals))
 *		...a line "Damaged": "cut short, everything before it was read"; "2 blocks damaged, 7 records refused"...
 *
 * A segment that has its END is whole, be it one of a rotation, which says that it continues.
 */
#ifndef CPROF_CAPTURE_DAMAGE_H
#define CPROF_CAPTURE_DAMAGE_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

/* Segments without their END; of a capture that is still being read the last one is. */
uint64_t damage_cut(const struct capture_totals *t);
/* Samples and other records that made no sense. */
uint64_t damage_refused(const struct capture_totals *t);
/* Appends nothing where nothing is missing, and is false then. */
bool damage_append(struct buf *out, const struct capture_totals *t);

#endif
