/*
 * The facts of captures that cprof-top -o md and cprof-diff -o md both tell: losses and unknowns.
 *
 *	brief_losses(&b, 1, "", &loaded, &view);
 *	brief_command(&text, "cprof-top", "--stacks 5", arguments);
 */
#ifndef CPROF_CMD_BRIEF_FACTS_H
#define CPROF_CMD_BRIEF_FACTS_H

#include "cmd/shared/input.h"
#include "common/views/brief.h"

enum { BRIEF_BUDGET = 4000 };

/* Appends lines about losses, stacks and names that are missing, each after the prefix ("A: "). */
void brief_losses(struct brief *b, size_t priority, const char *prefix, const struct loaded *l,
		  const struct view *view);
/*
 * Appends, as code, the command line with further options before its arguments, without -o and --budget.
 * Standard input is CAPTURE.
 */
void brief_command(struct buf *out, const char *program, const char *more, char *const *arguments);
/* Returns a copy of the arguments as they were given, before getopt reorders them. The caller frees it. */
char **brief_arguments(int argc, char **argv);
/* Returns the bytes of --budget; an invalid number is a usage error. */
size_t brief_budget(const char *text);

#endif
