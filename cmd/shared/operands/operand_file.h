/*
 * Operands as files: opened, recognized as compressed, and then decompressed by a child into a pipe while
 * they are read, so that the rest of a command need not know.
 *
 *	int fd = operand_open(path);
 *	struct reader *r = reader_new(fd, operand_name(path));
 *
 *	...reader_next...
 *	status = operand_reader_done(r, got, fd);
 *	one = operand_close(fd);
 *
 * Nothing of the decompressed bytes is kept. The child ends with the command, and is killed if the command
 * closes the operand before its end.
 */
#ifndef CPROF_CMD_OPERAND_FILE_H
#define CPROF_CMD_OPERAND_FILE_H

#include "cmd/shared/cli.h"

struct reader;

/* Returns the operand's name for messages: "standard input" for "-". */
const char *operand_name(const char *path);
/*
 * Opens an operand for reading and returns a descriptor of its content; "-" is standard input. path must
 * stay valid until operand_close. Exits with status 1 on failure. If standard input is a pipe, the first
 * Ctrl-C is left to the recorder that feeds the pipe, because the samples recorded so far are still to be
 * read.
 */
int operand_open(const char *path);
/*
 * Reads the first bytes of an input, at most size, so that its kind can be recognized. Returns after enough
 * bytes or at the end of the input. Exits if reading fails.
 */
size_t operand_peek(int fd, const char *name, uint8_t *to, size_t size, size_t enough);
/*
 * After reading fd to its end: returns STATUS_DAMAGED if the compressed file was damaged or cut short, and
 * reports it, once. Exits if the system failed. Before the end, and for other files, returns STATUS_OK.
 */
enum status operand_check(int fd);
/* Checks (operand_check) and closes the descriptor, unless it is standard input. */
enum status operand_close(int fd);
/* Closes the descriptor without a check, to open the operand again. */
void operand_drop(int fd);
/* Closes fd, which another process now reads. The output of that process, to, takes the place of fd. */
void operand_pass(int fd, int to);

/*
 * Call it after the last record of fd; got is the last result of reader_next. Reports damage or the error,
 * frees the reader and returns the status to end with. Damage of the compressed file is reported alone,
 * because it is the cause of others.
 */
enum status operand_reader_done(struct reader *r, int got, int fd);

#endif
