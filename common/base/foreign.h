/*
 * Opens a file at an untrusted path: a capture, an ELF file, another process's mapping.
 *
 *	int fd = foreign_open(AT_FDCWD, path);	// -1: see errno; ENOEXEC: it exists, but is not a regular file
 *
 * A file is examined before it is opened, because opening a pipe releases its writer and opening a device may
 * have side effects. So the path is opened as a handle (O_PATH), and the handle is reopened if it is a
 * regular file. Descriptors are read-only, non-blocking, close-on-exec, and never become the controlling
 * terminal.
 */
#ifndef CPROF_BASE_FOREIGN_H
#define CPROF_BASE_FOREIGN_H

/* Opens path relative to dir. Symbolic links resolve in our own root directory. */
int foreign_open(int dir, const char *path);
/* Opens path with root as the root of symbolic links and "..". Before Linux 5.6, errno is ENOSYS. */
int foreign_open_below(int root, const char *path);
/* Opens the file of an O_PATH handle, and closes the handle even on failure. */
int foreign_reopen(int handle);

#endif
