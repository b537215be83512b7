/*
 * What frames are called, by the stream: names with what is inlined, from some time on, and the kernel's symbols.
 *
 *	wrong = symbol_apply(c, &r->symbol);	// NULL, or "a name for an undefined frame"
 *
 * For capture_apply; capture_symbol and capture_ksym look them up.
 */
#ifndef CPROF_CAPTURE_NAMES_H
#define CPROF_CAPTURE_NAMES_H

#include "common/capture/capture.h"

const char *string_apply(struct capture *c, const struct record_string *r);
const char *symbol_apply(struct capture *c, const struct record_symbol *r);
const char *ksym_apply(struct capture *c, const struct record_ksym *r);

#endif
