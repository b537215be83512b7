/*
 * Of several names of the same code, which one is shown, where neither their tables nor their binding
 * tell: one rule for ELF files, /proc/kallsyms and System.map, so that a function has the same name
 * wherever it comes from.
 *
 *	if (prefer_name(slice_of("read"), slice_of("__read")) < 0)
 *		...the first...
 *
 * Fewer leading underscores; not the kernel's SyS_ and compat_SyS_; the shorter one; the lower bytes.
 */
#ifndef CPROF_ELF_PREFER_H
#define CPROF_ELF_PREFER_H

#include "common/base/cursor.h"

/* Below 0: a is the better name; 0: they are the same. */
int prefer_name(struct slice a, struct slice b);

#endif
