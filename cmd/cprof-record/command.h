/*
 * The command that is recorded: `-- COMMAND ...`.
 *
 *	command_prepare(&c, argv, &mask, false);	// it stands ready: its id is known
 *	...sampling begins...
 *	command_go(&c);					// from its first instruction
 *	...command_reap(&c) at each SIGCHLD, until c.pid is 0...
 */
#ifndef CPROF_RECORD_COMMAND_H
#define CPROF_RECORD_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct command {
	char **argv;
	pid_t pid;  /* 0: none, or gone */
	int status; /* of wait(2), when it is gone */
	int go;     /* a byte lets it begin */
	int failed; /* what exec(2) said, or nothing where it worked */
};

/*
 * Forks; the child waits. It gets the signal mask given, and its standard output is the recorder's
 * or, where that belongs to the capture, standard error. Dies where there is no such program.
 */
void command_prepare(struct command *c, char **argv, const sigset_t *mask, bool own_output);
/* Dies where it cannot be run. */
void command_go(struct command *c);
void command_reap(struct command *c);

#endif
