/*
 * cprof-diff -o md: the changes as a brief for a report or a ticket, with doubts and next commands. Prints to
 * stdout; exits if out of memory.
 */
#ifndef CPROF_DIFF_BRIEF_DIFF_H
#define CPROF_DIFF_BRIEF_DIFF_H

#include "cmd/cprof-diff/diff.h"

/* arguments: those of the command, without its name. */
void diff_print_brief(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f,
		      char *const *arguments);

#endif
