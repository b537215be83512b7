/*
 * Opens a file whose path somebody else chose: that of a capture, an ELF file, another process's mapping.
 *
 *	int fd = foreign_open(AT_FDCWD, path);	// -1: errno; ENOEXEC: it is there, and no regular file
 *
 * Nothing is opened before it was looked at: a pipe's writer would be let go, a device may do something. So the path leads
 * to a handle (O_PATH), and that to the file, if it is a regular one. For reading, without waiting, never a terminal of ours.
 */
#ifndef CPROF_BASE_FOREIGN_H
#define CPROF_BASE_FOREIGN_H

/* Symbolic links lead where they lead in our root. */
int foreign_open(int dir, const char *path);
/* Links and ".." end in this directory as if it were the root. Before Linux 5.6, errno is ENOSYS. */
int foreign_open_below(int root, const char *path);
/* The file behind a handle, which is closed in any case. */
int foreign_reopen(int handle);

#endif
