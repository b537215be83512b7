/*
 * Opens a file at an untrusted path: a capture, an ELF file, another process's mapping.
 *
 *	int fd = foreign_open(AT_FDCWD, path);	// -1: see errno; ENOEXEC: it exists, but is not a regular file
 *
 * A file is examined before it is opened, because opening a pipe releases its writer and opening a device may
 * have side effects. So the path is opened as a handle (O_PATH), and the handle is reopened if it is a
 * regular file. Descriptors are read-only, non-blocking, close-on-exec, and never become the controlling
 * terminal.
 *
 * The file's file system may be another user's process (FUSE) that never answers. So the caller looks only
 * at names that the kernel has in memory, and opens only local files. All others are looked up and opened
 * in a process (foreign_process.h). If that is silent for two seconds, it is killed, and errno is
 * ETIMEDOUT. Files of FUSE and of unknown file systems are copied into memory; EFBIG: they are too large
 * for that.
 */
#ifndef CPROF_FOREIGN_FOREIGN_H
#define CPROF_FOREIGN_FOREIGN_H

#include <stdbool.h>
#include <sys/stat.h>

/* Opens path relative to dir. Symbolic links resolve in our own root directory. */
int foreign_open(int dir, const char *path);
/* Opens path with root as the root of symbolic links and "..". Before Linux 5.6, errno is ENOSYS. */
int foreign_open_below(int root, const char *path);
/* Opens the file of an O_PATH handle, and closes the handle even on failure. */
int foreign_reopen(int handle);
/* The same without that process, for a process that may wait for the file. */
int foreign_reopen_here(int handle);
/* Returns why a file was not opened, for the two errors above; NULL for all others. */
const char *foreign_refusal(int error);
/* Like fstat; for a copy in memory it describes the original. */
bool foreign_stat(int fd, struct stat *st);
/* Returns false if any user's process may have made up the owner that foreign_stat gives. */
bool foreign_owner_is_true(int fd);
/* Returns true for a copy in memory. */
bool foreign_is_copy(int fd);

#endif
