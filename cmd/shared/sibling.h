/*
 * Runs another program of cprof: the one beside this program's file, otherwise the one in PATH.
 *
 *	char *argv[] = { "cprof-top", "-n", "3", NULL };
 *
 *	sibling_exec(argv);	// returns only if it failed
 */
#ifndef CPROF_CMD_SIBLING_H
#define CPROF_CMD_SIBLING_H

/* Replaces this process by the program argv[0]. If no such program can be run, exits with status 1. */
void sibling_exec(char **argv) __attribute__((noreturn));

#endif
