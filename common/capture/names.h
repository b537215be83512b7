/*
 * The names of frames in the stream: functions and the functions inlined into them, each valid from a time
 * on, and kernel symbols.
 *
 *	wrong = symbol_apply(c, &r->symbol);	// NULL, or "a name for an undefined frame"
 *
 * For capture_apply (see capture_internal.h); capture_symbol and capture_ksym look names up.
 */
#ifndef CPROF_CAPTURE_NAMES_H
#define CPROF_CAPTURE_NAMES_H

#include "common/capture/capture.h"

const char *string_apply(struct capture *c, const struct record_string *r);
const char *symbol_apply(struct capture *c, const struct record_symbol *r);
const char *ksym_apply(struct capture *c, const struct record_ksym *r);

#endif
