/*
 * Files as another process sees them: in its own mount and PID namespace, below its own root.
 *
 *	int root = open("/proc/PID/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
 *	int handle = nsfile_find(root, "tmp/x");	// the file is not opened yet
 *
 *	if (...statx: of the right device...)
 *		fd = foreign_reopen_here(handle);
 */
#ifndef CPROF_RECORD_HELPER_NSFILE_H
#define CPROF_RECORD_HELPER_NSFILE_H

#include <sys/types.h>

#include "common/base/buf.h"

enum { NSFILE_ROOM = 64 }; /* bytes of a path like "/proc/PID/status" */

/* Appends the text of /proc/PID/NAME. False: errno. */
bool nsfile_proc(pid_t pid, const char *name, struct buf *text);
/* Reads the effective user, and the pid in the innermost namespace (pid itself on kernels before 4.1). */
bool nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid);
/*
 * Returns a handle on the path below a process's root directory (O_PATH), from which nothing can be read:
 * opening a device may have effects, and opening a pipe may block. Symbolic links of a container are resolved
 * in its own root. -1: errno.
 */
int nsfile_find(int root, const char *name);
/* The same without asking any file system: errno is EAGAIN if the kernel has not cached the whole path. */
int nsfile_find_cached(int root, const char *name);

#endif
