/* Files in memory, for tests in C. Each function aborts if the system refuses. */
#ifndef CPROF_TESTS_MEMORY_FILE_H
#define CPROF_TESTS_MEMORY_FILE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/buf.h"

/* Returns an empty file. */
static inline int new_file(void)
{
	int fd = memfd_create("cprof-test", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

/* Returns the contents; the caller releases them. The descriptor is at the end afterwards. */
static inline struct buf file_bytes(int fd)
{
	struct buf b = { 0 };
	off_t n = lseek(fd, 0, SEEK_END);

	if (n < 0 || !buf_reserve(&b, (size_t)n + 1) || pread(fd, b.p, (size_t)n, 0) != n)
		abort();
	b.n = (size_t)n;
	return b;
}

/* Returns a file with these bytes, to be read from the beginning. */
static inline int file_of(const void *p, size_t n)
{
	int fd = new_file();

	if (write(fd, p, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

#endif
