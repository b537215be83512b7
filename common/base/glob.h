/*
 * Names by pattern.
 *
 *	if (glob_matches("shop*", name)) ...
 *
 * "*" stands for any bytes, "?" for one; a pattern also matches a name of the same bytes.
 */
#ifndef CPROF_BASE_GLOB_H
#define CPROF_BASE_GLOB_H

#include "common/base/slice.h"

/* Takes time proportional to the product of both lengths at most. */
bool glob_matches(const char *pattern, struct slice name);
/* Returns whether one of n patterns matches, or there is none. */
bool glob_lists(const char *const *patterns, size_t n, struct slice name);

#endif
