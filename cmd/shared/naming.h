/*
 * Adds names to a capture that has none while it is read, by cprof-sym, if it was made on this machine.
 *
 *	struct naming naming;
 *	int fd = naming_open(&naming, f, path);	// instead of operand_open
 *
 *	...read fd...
 *	naming_close(&naming, f, fd);
 *	...
 *	naming_report(f);
 */
#ifndef CPROF_CMD_NAMING_H
#define CPROF_CMD_NAMING_H

#include <sys/types.h>

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"

struct capture;

struct naming {
	pid_t pid; /* cprof-sym; 0: the capture is read as it is */
};

/*
 * Opens an operand as operand_open does. If f->names is set and the operand is a file with a capture of
 * this machine without names, returns the output of cprof-sym, and notes that.
 */
int naming_open(struct naming *n, struct filters *f, const char *path);
/* Closes the descriptor as operand_close does, and returns its status. Warns if cprof-sym failed. */
enum status naming_close(struct naming *n, struct filters *f, int fd);
/* Notes a capture that has files and no name for its frames. sums: those of this capture. */
void naming_hint(struct filters *f, const char *name, const struct gather_sums *sums);
/* While such an operand is read: notes a file of the capture that was not there, or was another one. */
void naming_source(struct filters *f, const struct capture *c, const struct record_source *r);
/* After the last operand: reports how many were read through cprof-sym, and the names that are missing. */
void naming_report(struct filters *f);
/* Appends these files and the reasons, "; names are missing: ...", or nothing. */
void naming_append_missing(const struct filters *f, struct buf *out);

#endif
