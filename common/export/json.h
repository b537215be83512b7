/*
 * One value as JSON text, by the library: what cprof writes of JSON itself is commas, colons and brackets.
 *
 *	json_text(&out, name);		// "a \"b\"" with its quotes
 *	json_number(&out, 0.25);
 *
 * Without the library (HAVE_JANSSON) json_known is false, and these must not be called.
 */
#ifndef CPROF_EXPORT_JSON_H
#define CPROF_EXPORT_JSON_H

#include "common/base/buf.h"

bool json_known(void);
/* Bytes that are not UTF-8 become "?", one each. */
void json_text(struct buf *out, struct slice text);
void json_count(struct buf *out, uint64_t v);
/* Six significant digits; null where it is not finite. */
void json_number(struct buf *out, double v);

#endif
