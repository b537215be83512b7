/*
 * The command of --on-rotate: runs for each file once the file has its name, one after the other.
 *
 *	struct hooks h = { .command = "zstd --rm \"$1\"", .mask = &mask };
 *
 *	hooks_add(&h, path);		// runs now, or when the previous one has ended
 *	...hooks_reap(&h) at each SIGCHLD...
 *	while (hooks_left(&h))		// at the end: waits for all
 *		...hooks_reap(&h), or hooks_stop(&h) to stop waiting...
 *	hooks_release(&h);
 *
 * The command is run by sh(1) with the file as $1. Its standard input is empty, and its standard output is
 * the recorder's standard error. If it takes longer than the time between two files, up to HOOKS_WAITING
 * files wait. Further ones are counted and the command is not run for them.
 */
#ifndef CPROF_RECORD_OUTPUT_HOOKS_H
#define CPROF_RECORD_OUTPUT_HOOKS_H

#include <signal.h>
#include <sys/types.h>

#include "common/base/buf.h"

enum { HOOKS_WAITING = 1024 };

struct hooks {
	const char *command;  /* NULL: nothing is run */
	const sigset_t *mask; /* signal mask for the command */
	pid_t pid;            /* the running command; 0: none */
	char **waiting;
	size_t n, cap;
	uint64_t run, failed, dropped; /* files; failed ones are part of run */
	int status; /* from wait(2), for the last one that failed */
};

void hooks_add(struct hooks *h, const char *path);
void hooks_reap(struct hooks *h);
/* Returns the number of files for which the command is running or waiting. */
size_t hooks_left(const struct hooks *h);
/* Ends the running command and forgets the waiting files; all count as dropped. Returns their number. */
size_t hooks_stop(struct hooks *h);
/* The counts stay valid. */
void hooks_release(struct hooks *h);

#endif
