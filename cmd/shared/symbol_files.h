/*
 * Options that say where files with symbols are, and what the search for them found.
 *
 *	static const struct option_row options[] = { SYMBOL_FILES_ROWS, ... };
 *	struct symbol_files files = { 0 };
 *
 *	if (symbol_files_option(&files, c, optarg))
 *		...it was one of them...
 */
#ifndef CPROF_CMD_SYMBOL_FILES_H
#define CPROF_CMD_SYMBOL_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/shared/command_line.h"

struct debuginfod;
struct unread;

enum { SYMBOL_FILES_SYMFS = 512, SYMBOL_FILES_DEBUG_DIR, SYMBOL_FILES_DEBUGINFOD, SYMBOL_FILES_DIRS_MAX = 64 };

#define SYMBOL_FILES_ROWS                                                                                  \
	{ OPTIONS_FILES, SYMBOL_FILES_SYMFS, "symfs", "DIR", "look for recorded files below DIR" },         \
	{ OPTIONS_FILES, SYMBOL_FILES_DEBUG_DIR, "debug-dir", "DIR", "look for debug files in DIR" },       \
	{ OPTIONS_FILES, SYMBOL_FILES_DEBUGINFOD, "debuginfod", NULL, "ask the servers in DEBUGINFOD_URLS" }

struct symbol_files {
	const char *symfs; /* NULL: the files of this machine */
	const char *debug_dirs[SYMBOL_FILES_DIRS_MAX];
	size_t n_debug_dirs;
	struct debuginfod *debuginfod; /* NULL: no server is asked */
};

/*
 * Handles one of the options; argument is its value. Returns false for any other option. A value that is not a
 * directory, and servers that cannot be asked, end the program.
 */
bool symbol_files_option(struct symbol_files *s, int option, const char *argument);
/* Reports the queries to debuginfod that failed, if any, and frees it. */
void symbol_files_done(struct symbol_files *s);
/*
 * Reports files that could not be read: the first three, or all of them. "cprof-sym: cannot read 2 debug
 * sections of /lib/x.so: damaged"
 */
void symbol_files_unread(const struct unread *u, bool all);

#endif
