/* Prints a profile as folded text. */
#ifndef CPROF_CMD_FOLDED_PRINT_H
#define CPROF_CMD_FOLDED_PRINT_H

#include "common/profile/profile.h"

/*
 * Prints side 0 with columns 1, and both sides with columns 2, sorted. Leaves errors of standard output to
 * cli_stdout_done. Exits if out of memory.
 */
void folded_print(const struct profile *p, unsigned int columns);

#endif
