/*
 * Cuts parameters and, on request, template arguments out of a demangled name.
 *
 *	cut_name(&out, slice_of("ns::map<int>::get(int) const"), LANGUAGE_CXX, true);	// "ns::map::get"
 */
#ifndef CPROF_DEMANGLE_CUTNAME_H
#define CPROF_DEMANGLE_CUTNAME_H

#include "common/demangle/demangle.h"

enum language { LANGUAGE_CXX, LANGUAGE_RUST, LANGUAGE_D };

/* Both append to out, and fail only if out of memory (out->failed). */
void cut_name(struct buf *out, struct slice name, enum language language, bool cut_templates);
/* Appends the clone suffixes (".isra.0.cold") that this mode shows. */
void cut_suffix(struct buf *out, struct slice suffix, enum demangle_mode mode);

#endif
