/* Functions of sides_windows.c for sides.c. */
#ifndef CPROF_CMD_SIDES_INTERNAL_H
#define CPROF_CMD_SIDES_INTERNAL_H

#include "cmd/shared/sides.h"

/* Returns whether both sides are parts of one recording, which these n operands without "--" are. */
bool sides_are_parts(const struct side sides[PROFILE_SIDES], size_t n);

#endif
