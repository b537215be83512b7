/*
 * A line on the terminal of standard error while work takes over a second; erased when the work ends.
 *
 *	progress_begin("make.bin", fd);	// "cprof-sym: make.bin: 45 %, 7 s"
 *	...read fd...
 *	progress_end();
 *
 * A timer's signal (SIGALRM) writes the line, so that the work itself need not count: the offset of the file
 * that is being read is the progress. Without a terminal, or in the background, nothing is written. Messages
 * of cli.h erase the line first.
 */
#ifndef CPROF_CMD_PROGRESS_H
#define CPROF_CMD_PROGRESS_H

/*
 * Begins a piece of work, and ends the previous one; the time goes on from the first. The text is copied.
 * fd: the file that is read, or -1. If it is not a regular file, the line has only the time;
 * standard input has none, because the program at the head of the pipe may have a line.
 */
void progress_begin(const char *what, int fd);
/*
 * Erases the line and stops. Call it before standard output gets a result that may go to the same
 * terminal.
 */
void progress_end(void);
/* Prevents lines from now on. */
void progress_forbid(void);

#endif
