/*
 * Code that JIT compilers put in the place of other code without any change of mappings, as listed by perf
 * maps and recorded piece by piece in jitdumps.
 *
 *	wrong = jitmap_apply(c, &r->jitmap);	// NULL, or "a perf map of an undefined process"
 *
 * For capture_apply (see capture_internal.h). The process's jitted keeps only the addresses of new code and when it
 * came; names are kept by resolve/jit.h, which reads the same records.
 */
#ifndef CPROF_CAPTURE_JIT_CODE_H
#define CPROF_CAPTURE_JIT_CODE_H

#include "common/capture/capture.h"

const char *jitmap_apply(struct capture *c, const struct record_jitmap *r);
const char *jitcode_apply(struct capture *c, const struct record_jitcode *r);

#endif
