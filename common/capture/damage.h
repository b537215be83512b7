/*
 * Describes the parts of captures that are missing because of damage, or because a capture was cut short. The
 * text is the same in every header of a view.
 *
 *	if (damage_append(&text, &totals))
 *		...a line "Damaged": "cut short, everything before it was read"; "2 blocks damaged, 7 records refused"...
 *
 * A segment with an END is complete, even one of a rotation, whose END says that the recording continues.
 */
#ifndef CPROF_CAPTURE_DAMAGE_H
#define CPROF_CAPTURE_DAMAGE_H

#include "common/base/buf.h"
#include "common/capture/capture.h"

/* Returns the number of segments without an END, including the last one while it is still being read. */
uint64_t damage_cut(const struct capture_totals *t);
/* Returns the number of samples and other records that made no sense. */
uint64_t damage_refused(const struct capture_totals *t);
/* Appends the text. Returns false, and appends nothing, if nothing is missing. */
bool damage_append(struct buf *out, const struct capture_totals *t);

#endif
