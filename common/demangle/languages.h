/*
 * Demangles names of Fortran (gfortran, Flang), OCaml and Haskell (GHC), each by its own small rule, since no
 * library does.
 *
 *	if (!demangle_other(&out, slice_of("__stats_MOD_mean"), DEMANGLE_SIMPLIFIED))	// "stats::mean"
 *		...it is none of these; out is as it was...
 *
 * Only forms that C names do not have are accepted:
 *	gfortran	__MODULE_MOD_PROCEDURE, in lower case
 *	Flang		_QMMODULEPPROCEDURE: flang/docs/BijectiveInternalNameUniquing.md
 *	OCaml		camlModule__function_123; "." for "__" from 5.1 on; $2b for a character
 *	GHC		package_ModuleziName_function_info with at least one z-code, or Main_function_info
 */
#ifndef CPROF_DEMANGLE_LANGUAGES_H
#define CPROF_DEMANGLE_LANGUAGES_H

#include "common/demangle/demangle.h"

/* Appends the demangled name; or returns false and leaves out as it was. */
bool demangle_other(struct buf *out, struct slice name, enum demangle_mode mode);

#endif
