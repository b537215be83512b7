/*
 * Chooses the name to show among several names of the same code, if neither their tables nor their binding
 * decide. The rule is the same for ELF files, /proc/kallsyms and System.map, so that a function has the same
 * name from any source.
 *
 *	if (prefer_name(slice_of("read"), slice_of("__read")) < 0)
 *		...the first...
 *
 * In this order: fewer leading underscores; not the kernel's SyS_ and compat_SyS_; the shorter one; the lower
 * bytes.
 */
#ifndef CPROF_SYMBOLS_PREFER_H
#define CPROF_SYMBOLS_PREFER_H

#include "common/base/cursor.h"

/* Returns a value below 0 if a is the better name, above 0 if b is, and 0 if they are the same. */
int prefer_name(struct slice a, struct slice b);

#endif
