#include "common/base/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	TRIES = 8, /* openat2 gives EAGAIN while something is renamed or mounted */
};

static int close_keeping_errno(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

/* Opens the file of the O_PATH handle, which stays open. */
static int open_handle(int handle, struct stat *st)
{
	char name[32];

	if (handle < 0 || fstat(handle, st) != 0)
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = ENOEXEC;
		return -1;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", handle);
	return open(name, OPEN_FLAGS);
}

int foreign_reopen(int handle)
{
	struct stat st;
	int fd = open_handle(handle, &st);

	close_keeping_errno(handle);
	return fd;
}

/* Fallback without /proc: opens the path again and checks that it is still the file that was examined. */
static int open_same(int dir, const char *path, const struct stat *looked)
{
	int fd = openat(dir, path, OPEN_FLAGS);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == looked->st_dev && st.st_ino == looked->st_ino))
		return fd;
	errno = ESTALE;
	return close_keeping_errno(fd);
}

int foreign_open(int dir, const char *path)
{
	int handle = openat(dir, path, O_PATH | O_CLOEXEC), fd;
	struct stat st;

	fd = open_handle(handle, &st);
	if (handle >= 0 && fd < 0 && errno == ENOENT)
		fd = open_same(dir, path, &st);
	close_keeping_errno(handle);
	return fd;
}

int foreign_open_below(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	long handle = -1;

	for (int i = 0; i < TRIES; i++) {
		handle = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (handle >= 0 || errno != EAGAIN)
			break;
	}
	return foreign_reopen((int)handle);
}
