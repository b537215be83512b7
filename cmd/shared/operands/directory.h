/*
 * Directories as operands: the captures in them, in order of time, as cprof-record --rotate leaves them.
 *
 *	char **operands = directory_operands(argv + optind, &filters.view);
 *
 *	for (; *operands; operands++) {
 *		...read *operands...
 *		directory_done(*operands, status);
 *	}
 *
 * Captures are recognized by their contents. Other files are left alone, and reported;
 * so are subdirectories, because an archive may have one for each of many hosts. The file that standard
 * output is written to is never one of them.
 */
#ifndef CPROF_CMD_DIRECTORY_H
#define CPROF_CMD_DIRECTORY_H

#include "cmd/shared/cli.h"

struct view;

/*
 * Returns the operands with each directory replaced by its captures; "-" if none is given. The list ends
 * with NULL and is valid until the next call, its texts as long as the process. Files of one recording come in
 * the order of time, in the places that they have among the operands, unless view is NULL. view:
 * captures that are
 * outside the time of --from and --to may be left out, as far as their headers say; NULL: all are wanted. A
 * compressed capture is taken to end when the next one of its recording begins. A directory without a
 * capture is an error, and so is one that cannot be read.
 */
char **directory_operands(char **given, const struct view *view);
/*
 * Returns the nanoseconds from the beginning of the first to that of the last capture of all directories that
 * directory_operands was given, as far as headers say; 0 if there is no directory or only one capture.
 */
uint64_t directory_span(void);
/*
 * Returns whether directory_operands left out captures by their time. *first and *last: when the first and
 * the last of these begin, in nanoseconds since 1970.
 */
bool directory_left_out(uint64_t *first, uint64_t *last);
/* Returns whether the file is one of the captures that directory_operands makes of the directory. */
bool directory_reads(const char *directory, const char *file);
/* Returns whether one of the operands is a directory. */
bool directory_given(char *const *operands);
/*
 * After reading an operand, reports how many captures of its directory were damaged if it was the last one,
 * and files of the directory that could not be read. Returns the status to go on with, at least the given
 * one.
 */
enum status directory_done(const char *operand, enum status status);

#endif
