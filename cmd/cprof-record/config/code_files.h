/*
 * The files that a process has mapped as code, or that a command will map.
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

/* The paths lead through /proc/PID/root, so they are right for a process with another root. */
bool code_files_of_process(pid_t pid, code_files_fn *look, void *arg);
/*
 * The executable, or the interpreter of a script's first line; then the libraries that it names, where the
 * dynamic linker looks first: its own directories, LD_LIBRARY_PATH, and the system's usual ones.
 */
bool code_files_of_command(const char *name, code_files_fn *look, void *arg);

#endif
