/*
 * The files that a command will map as code.
 *
 *	if (code_files_of_command(argv, look, arg))
 *		...look has returned true...
 *
 * look gets the path of each file until it returns true; its result is then the function's.
 */
#ifndef CPROF_RECORD_CONFIG_CODE_FILES_H
#define CPROF_RECORD_CONFIG_CODE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

typedef bool code_files_fn(void *arg, const char *path);

/*
 * The executable, or the interpreter of a script's first line; then the libraries that it names, where the
 * dynamic linker looks first: its own directories, LD_LIBRARY_PATH, and the system's usual ones.
 */
bool code_files_of_command(const char *name, code_files_fn *look, void *arg);

#endif
