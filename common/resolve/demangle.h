/*
 * Names as their authors wrote them: C++, Rust (legacy and v0), D and Ada, by libiberty; Fortran, OCaml and Haskell
 * (languages.h).
 *
 *	struct buf out = { 0 };
 *
 *	demangle(&out, symbol, DEMANGLE_SIMPLIFIED);	// what is not mangled comes out as it went in
 *
 * Bounded: a name of more than DEMANGLE_IN_MAX bytes, or one that would become longer than
 * DEMANGLE_OUT_MAX, stays mangled. A few bytes can describe gigabytes.
 */
#ifndef CPROF_RESOLVE_DEMANGLE_H
#define CPROF_RESOLVE_DEMANGLE_H

#include "common/base/buf.h"

enum { DEMANGLE_IN_MAX = 4096, DEMANGLE_OUT_MAX = 4096 };

enum demangle_mode {
	DEMANGLE_NONE = 0,
	DEMANGLE_SIMPLIFIED = 1, /* "ns::map::insert": no parameters, no template arguments, no clone suffix */
	DEMANGLE_TEMPLATES = 2,  /* "ns::map<int, long>::insert": no parameters; ".cold" but not ".constprop.3" */
	DEMANGLE_FULL = 3,       /* "ns::map<int, long>::insert(int const&) const [clone .constprop.3]" */
};

/* False where this build cannot demangle. */
bool demangle_possible(void);
/*
 * Names of Ada, "math__vectors__norm__2", look as names in C may. The first says whether this could be one, so that the
 * caller can find out whether the file has Ada at all; the second appends it, or is false and leaves out as it was.
 */
bool demangle_may_be_ada(struct slice name);
bool demangle_ada(struct buf *out, struct slice name, enum demangle_mode mode);
/* Appends the name to out. Never fails but for memory (out->failed). */
void demangle(struct buf *out, struct slice name, enum demangle_mode mode);
/*
 * The same of a name that debug information gives, where a C++ function has no mangled one: it has no parameters and
 * no namespaces, but template arguments.
 */
void demangle_plain(struct buf *out, struct slice name, enum demangle_mode mode);
/*
 * The same of a name that another tool has demangled, or has not. Only a name whose form says that it is C++ or Rust is
 * changed: Go, OCaml, D and Crystal have brackets in names, too.
 */
void demangle_given(struct buf *out, struct slice name, enum demangle_mode mode);
/* "none" ... "full"; false for any other text. */
bool demangle_mode_parse(const char *text, enum demangle_mode *mode);

#endif
