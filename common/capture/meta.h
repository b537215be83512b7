/*
 * The facts that a segment begins with: keys and values of META records. capture.h has the functions that look them up.
 */
#ifndef CPROF_CAPTURE_META_H
#define CPROF_CAPTURE_META_H

#include "common/capture/capture.h"

/* Returns a sentence that says why the record is refused, or NULL. */
const char *meta_apply(struct capture *c, const struct record_meta *r);

#endif
