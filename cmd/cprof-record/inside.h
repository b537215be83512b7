/*
 * Files as another process sees them: in its own mount and PID namespace, below its own root.
 *
 *	int root = open("/proc/PID/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
 *	int handle = inside_find(root, "tmp/x");	// nothing has been opened yet
 *
 *	if (...statx: of the right device...)
 *		fd = foreign_reopen(handle);
 */
#ifndef CPROF_RECORD_INSIDE_H
#define CPROF_RECORD_INSIDE_H

#include <sys/types.h>

#include "common/base/buf.h"

enum { INSIDE_ROOM = 64 }; /* bytes of a path like "/proc/PID/status" */

/* The text of /proc/PID/NAME. */
bool inside_proc(pid_t pid, const char *name, struct buf *text);
/* The effective user, and the pid in the innermost namespace (kernels before 4.1 do not tell: pid). */
bool inside_status(pid_t pid, uid_t *uid, pid_t *nspid);
/*
 * A handle on the path below a process's root directory, by which nothing can be read yet: opening a
 * device may do something, a pipe may block. Symbolic links of a container end in its own root. -1: errno.
 */
int inside_find(int root, const char *name);
/* The same without asking any file system: errno is EAGAIN where the kernel has not all of it in memory. */
int inside_find_cached(int root, const char *name);

#endif
