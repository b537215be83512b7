/*
 * The command that is recorded: `-- COMMAND ...`.
 *
 *	command_prepare(&c, argv, &mask, false);	// it waits, and its pid is known
 *	...sampling begins...
 *	command_go(&c);					// from its first instruction
 *	...command_reap(&c) at each SIGCHLD, until c.pid is 0...
 */
#ifndef CPROF_RECORD_PROCESS_COMMAND_H
#define CPROF_RECORD_PROCESS_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct command {
	char **argv;
	pid_t pid;  /* 0: none, or gone */
	int status; /* from wait(2), once it is gone */
	int go;     /* pipe: one byte starts it */
	int failed; /* pipe: the errno of exec(2), or end of file on success */
};

/*
 * Forks; the child waits for command_go. It gets the given signal mask. Its standard output is the
 * recorder's if own_output is set, otherwise standard error, because standard output carries the capture.
 * Ends the recorder if there is no such program.
 */
void command_prepare(struct command *c, char **argv, const sigset_t *mask, bool own_output);
/* Starts the command. Ends the recorder if exec(2) fails. */
void command_go(struct command *c);
/* Sets status and pid if the command has ended; does not wait. */
void command_reap(struct command *c);

#endif
