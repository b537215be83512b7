/*
 * Demangles names: C++, Rust (legacy and v0), D and Ada with libiberty; Fortran, OCaml and Haskell with
 * languages.h.
 *
 *	struct buf out = { 0 };
 *
 *	demangle(&out, symbol, DEMANGLE_SIMPLIFIED);	// a name that is not mangled is copied unchanged
 *
 * Output is bounded, because a few bytes can describe gigabytes: a name longer than DEMANGLE_IN_MAX bytes, or
 * one that would exceed DEMANGLE_OUT_MAX bytes, stays mangled.
 */
#ifndef CPROF_DEMANGLE_DEMANGLE_H
#define CPROF_DEMANGLE_DEMANGLE_H

#include "common/base/buf.h"

enum { DEMANGLE_IN_MAX = 4096, DEMANGLE_OUT_MAX = 4096 };

enum demangle_mode {
	DEMANGLE_NONE = 0,
	DEMANGLE_SIMPLIFIED = 1, /* "ns::map::insert": no parameters, template arguments or clone suffix */
	DEMANGLE_TEMPLATES = 2,  /* "ns::map<int, long>::insert": no parameters; ".cold", not ".constprop.3" */
	DEMANGLE_FULL = 3,       /* "ns::map<int, long>::insert(int const&) const [clone .constprop.3]" */
};

/* Returns false if this build has no libiberty. */
bool demangle_possible(void);
/*
 * Ada names ("math__vectors__norm__2") look like names in C. demangle_may_be_ada says whether this could be
 * one, so that the caller can check whether the file has Ada at all. demangle_ada appends the demangled name,
 * or returns false and leaves out unchanged.
 */
bool demangle_may_be_ada(struct slice name);
bool demangle_ada(struct buf *out, struct slice name, enum demangle_mode mode);
/* Appends the name to out, demangled if it is mangled. Fails only if out of memory (out->failed). */
void demangle(struct buf *out, struct slice name, enum demangle_mode mode);
/*
 * Like demangle, for a name from debug information that has no mangled form (C++): such a name has template
 * arguments, but no parameters or namespaces.
 */
void demangle_plain(struct buf *out, struct slice name, enum demangle_mode mode);
/*
 * Like demangle, for a name that another tool may have demangled already. Changes it only if its form is
 * clearly C++ or Rust: Go, OCaml, D and Crystal have brackets in names, too.
 */
void demangle_given(struct buf *out, struct slice name, enum demangle_mode mode);
/* Parses "none", "simplified", "templates" or "full"; returns false for any other text. */
bool demangle_mode_parse(const char *text, enum demangle_mode *mode);

#endif
