/*
 * Parameters, and on request template arguments, taken out of a demangled name.
 *
 *	cut_name(&out, slice_of("ns::map<int>::get(int) const"), LANGUAGE_CXX, true);	// "ns::map::get"
 */
#ifndef CPROF_RESOLVE_CUTNAME_H
#define CPROF_RESOLVE_CUTNAME_H

#include "common/resolve/demangle.h"

enum language { LANGUAGE_CXX, LANGUAGE_RUST, LANGUAGE_D };

/* All append to out and never fail but for memory (out->failed). */
void cut_name(struct buf *out, struct slice name, enum language language, bool cut_templates);
/* The suffixes of a clone, ".isra.0.cold", as far as they belong to a name in this mode. */
void cut_suffix(struct buf *out, struct slice suffix, enum demangle_mode mode);

#endif
