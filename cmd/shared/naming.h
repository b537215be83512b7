/*
 * Adds names to a capture that has none while it is read, by cprof-sym, if it was made on this machine.
 *
 *	struct naming naming;
 *	int fd = naming_open(&naming, f, path);	// instead of operand_open
 *
 *	...read fd...
 *	naming_close(&naming, fd);
 */
#ifndef CPROF_CMD_NAMING_H
#define CPROF_CMD_NAMING_H

#include <sys/types.h>

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"

struct naming {
	pid_t pid; /* cprof-sym; 0: the capture is read as it is */
};

/*
 * Opens an operand as operand_open does. If f->names is set and the operand is a file with a capture of
 * this machine without names, returns the output of cprof-sym, and says so.
 */
int naming_open(struct naming *n, const struct filters *f, const char *path);
/* Closes the descriptor as operand_close does, and returns its status. Warns if cprof-sym failed. */
enum status naming_close(struct naming *n, int fd);
/* Warns of a capture that has files and no name for its frames. sums: those of this capture. */
void naming_hint(const struct filters *f, const char *name, const struct gather_sums *sums);

#endif
