/*
 * The command of --on-rotate: run for each file when it has its name, one after the other.
 *
 *	struct hooks h = { .command = "zstd --rm \"$1\"", .mask = &mask };
 *
 *	hooks_add(&h, path);		// it is run now, or when the one before has ended
 *	...hooks_reap(&h) at each SIGCHLD...
 *	while (hooks_left(&h))		// at the end: waits for all
 *		...hooks_reap(&h), or hooks_stop(&h) where nobody waits any longer...
 *	hooks_release(&h);
 *
 * It is given to sh(1) with the file as $1. Its standard input is empty and its standard output standard error. One
 * that takes longer than the time between two files lets them wait, up to HOOKS_WAITING; what does not fit is
 * counted and not run.
 */
#ifndef CPROF_RECORD_HOOKS_H
#define CPROF_RECORD_HOOKS_H

#include <signal.h>
#include <sys/types.h>

#include "common/base/buf.h"

enum { HOOKS_WAITING = 1024 };

struct hooks {
	const char *command;  /* NULL: nothing is run */
	const sigset_t *mask; /* of signals, for the command */
	pid_t pid;            /* that runs; 0: none */
	char **waiting;
	size_t n, cap;
	uint64_t run, failed, dropped; /* failed: of those run */
	int status; /* of wait(2), of the last one that failed */
};

void hooks_add(struct hooks *h, const char *path);
void hooks_reap(struct hooks *h);
/* How many files it runs for, or still has to. */
size_t hooks_left(const struct hooks *h);
/* Ends the one that runs, and forgets the others: they count as dropped. How many that were. */
size_t hooks_stop(struct hooks *h);
/* What was counted stays good. */
void hooks_release(struct hooks *h);

#endif
