/*
 * Code that JIT compilers put where other code was, without any change of mappings: as perf maps list it, and as
 * jitdumps tell of it piece by piece.
 *
 *	wrong = jitmap_apply(c, &r->jitmap);	// NULL, or "a perf map of an undefined process"
 *
 * For capture_apply. Only where and when code is new is kept, in the process' jitted; what it is called is for who
 * reads these records for the names (resolve/jit.h).
 */
#ifndef CPROF_CAPTURE_JITTED_H
#define CPROF_CAPTURE_JITTED_H

#include "common/capture/capture.h"

const char *jitmap_apply(struct capture *c, const struct record_jitmap *r);
const char *jitcode_apply(struct capture *c, const struct record_jitcode *r);

#endif
