/*
 * One value as JSON text, written by the library; cprof itself writes only commas, colons and brackets.
 *
 *	json_text(&out, name);		// "a \"b\"" with its quotes
 *	json_number(&out, 0.25);
 *
 * Without the library (HAVE_JANSSON) json_known is false, and the other functions must not be called.
 * Failures set out->failed.
 */
#ifndef CPROF_EXPORT_JSON_H
#define CPROF_EXPORT_JSON_H

#include "common/base/buf.h"

bool json_known(void);
/* Writes "?" for each byte above ASCII if the text is not valid UTF-8. */
void json_text(struct buf *out, struct slice text);
void json_count(struct buf *out, uint64_t v);
/* Writes six significant digits; null if v is not finite. */
void json_number(struct buf *out, double v);

#endif
