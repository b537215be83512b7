#include "common/foreign/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/foreign/foreign_process.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

enum {
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	TRIES = 8, /* openat2 gives EAGAIN while something is renamed or mounted */
	COPIES_MOST = 512 << 20, /* bytes of all copies that are open at a time */
	PART = 4 << 20,	     /* bytes copied at once */
};

struct copied {
	struct stat original;
	bool owner_is_true;
};

/* The original of each copy in memory, by the copy's own number. It may be closed by now. */
struct copy {
	int fd;
	ino_t inode;
	struct copied of;
};

static struct copy *copies;
static size_t n_copies, cap_copies;

static int close_keeping_errno(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

/* Reads device, number and type, which are in memory: no file system is accessed. */
static bool stat_handle(int handle, struct statx *st)
{
	enum { WANTED = STATX_TYPE | STATX_INO | STATX_MNT_ID };

	return statx(handle, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, st) == 0;
}

static int open_handle(int handle)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", handle);
	return open(name, OPEN_FLAGS);
}

/* --- in the process --------------------------------------------------------------------------- */

static int copy_file(int fd, uint64_t size)
{
	int to = memfd_create("cprof-copy", MFD_CLOEXEC);
	uint64_t done = 0;

	while (to >= 0 && done < size) {
		ssize_t n = sendfile(to, fd, NULL, size - done < PART ? size - done : PART);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return close_keeping_errno(to);
		if (n == 0)
			break;
		done += (uint64_t)n;
		foreign_process_progress();
	}
	return to;
}

/*
 * A server of FUSE may report any owner, and an overlay repeats it. Any other file system that a user may mount
 * has no files of root or of others.
 */
static bool is_owner_true(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != FUSE_SUPER_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

/*
 * Opens the file of a handle. A file of a user's own file system is copied, because a later read must not
 * wait for that user. For a server that root has mounted it is enough that it answers now.
 */
static int reopen_work(struct foreign_work *w)
{
	struct copied answer;
	struct stat original;
	struct statx st;
	uint64_t most;
	int fd, copy;
	char byte;

	if (!stat_handle(w->fd, &st) || !foreign_process_touch(&st))
		return -1;
	fd = open_handle(w->fd);
	if (fd < 0)
		return -1;
	if (foreign_process_kind(&st) == MOUNT_SERVER)
		return pread(fd, &byte, 1, 0) >= 0 ? fd : close_keeping_errno(fd);
	if (fstat(fd, &original) != 0)
		return close_keeping_errno(fd);
	memcpy(&most, w->question, sizeof(most));
	if ((uint64_t)original.st_size > most) {
		close(fd);
		errno = EFBIG;
		return -1;
	}
	answer = (struct copied){ original, is_owner_true(fd) };
	memcpy(w->answer, &answer, sizeof(answer));
	copy = copy_file(fd, (uint64_t)original.st_size);
	close_keeping_errno(fd);
	return copy;
}

static int open_how(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	long handle = -1;

	for (int i = 0; i < TRIES; i++) {
		handle = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (handle >= 0 || errno != EAGAIN || (resolve & RESOLVE_CACHED))
			break;
	}
	return (int)handle;
}

/* Announces the device of the last directory on the way to the path that the kernel has in memory. */
static bool may_look_up(int dir, const char *path, uint64_t resolve)
{
	char name[FOREIGN_QUESTION];
	struct statx st;
	int handle = -1;
	char *slash;

	strcpy(name, path);
	while (handle < 0 && (slash = strrchr(name, '/'))) {
		slash[slash == name] = '\0';
		handle = open_how(dir, name, resolve | RESOLVE_CACHED);
		if (slash == name)
			break;
	}
	if (handle < 0)
		return true;
	if (stat_handle(handle, &st) && S_ISDIR(st.stx_mode) && !foreign_process_touch(&st)) {
		close_keeping_errno(handle);
		return false;
	}
	close(handle);
	return true;
}

struct lookup {
	uint64_t resolve;
	char path[FOREIGN_QUESTION - sizeof(uint64_t)];
};

static int lookup_work(struct foreign_work *w)
{
	static struct lookup l;
	int dir = w->fd >= 0 ? w->fd : AT_FDCWD, handle;

	memcpy(&l, w->question, w->n);
	if (!may_look_up(dir, l.path, l.resolve))
		return -1;
	handle = open_how(dir, l.path, l.resolve);
	if (handle < 0 && !l.resolve && (errno == ENOSYS || errno == EPERM)) /* before 5.6 */
		handle = openat(dir, l.path, O_PATH | O_CLOEXEC);
	return handle;
}

/* --- the caller's side ------------------------------------------------------------------------ */

static bool note_copy(int fd, const struct copied *of)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !grow_array(&copies, &cap_copies, n_copies, sizeof(*copies)))
		return false;
	copies[n_copies++] = (struct copy){ fd, st.st_ino, *of };
	return true;
}

/* Returns the bytes that further copies may have. */
static uint64_t room_for_copies(void)
{
	uint64_t used = 0;
	struct stat st;

	for (size_t i = 0; i < n_copies; i++) {
		bool open = fstat(copies[i].fd, &st) == 0 && st.st_nlink == 0 && st.st_ino == copies[i].inode;

		used += open ? (uint64_t)st.st_size : 0;
	}
	return used < COPIES_MOST ? COPIES_MOST - used : 0;
}

/* Returns the original of a copy, NULL for any other file. */
static const struct copied *find_original(const struct stat *st)
{
	/* The file is nowhere but in memory. Its number may be used again, so the latest counts. */
	for (size_t i = st->st_nlink == 0 ? n_copies : 0; i-- > 0;)
		if (copies[i].inode == st->st_ino)
			return &copies[i].of;
	return NULL;
}

const char *foreign_refusal(int error)
{
	return error == ETIMEDOUT ? "it did not answer in 2 s" :
	       error == EFBIG ? "too large to be copied from its file system" : NULL;
}

bool foreign_stat(int fd, struct stat *st)
{
	const struct copied *of;

	if (fstat(fd, st) != 0)
		return false;
	of = find_original(st);
	if (of)
		*st = of->original;
	return true;
}

bool foreign_owner_is_true(int fd)
{
	const struct copied *of;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	of = find_original(&st);
	return !of || of->owner_is_true;
}

bool foreign_is_copy(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && find_original(&st);
}

int foreign_reopen(int handle)
{
	struct foreign_work w = { .fd = handle, .n = sizeof(uint64_t) };
	struct copied of;
	struct statx st;
	uint64_t room;
	int fd = -1;

	if (handle < 0 || !stat_handle(handle, &st))
		return close_keeping_errno(handle);
	if (!S_ISREG(st.stx_mode)) {
		errno = ENOEXEC;
	} else if (foreign_process_kind(&st) >= MOUNT_OVERLAY) {
		fd = open_handle(handle);
	} else {
		room = room_for_copies();
		memcpy(w.question, &room, sizeof(room));
		fd = foreign_process_run(reopen_work, &w);
	}
	close_keeping_errno(handle);
	memcpy(&of, w.answer, sizeof(of));
	if (fd >= 0 && of.original.st_mode && !note_copy(fd, &of)) {
		errno = ENOMEM;
		return close_keeping_errno(fd);
	}
	return fd;
}

int foreign_reopen_here(int handle)
{
	struct statx st;
	int fd = -1;

	if (handle < 0 || !stat_handle(handle, &st))
		return close_keeping_errno(handle);
	if (!S_ISREG(st.stx_mode))
		errno = ENOEXEC;
	else
		fd = open_handle(handle);
	close_keeping_errno(handle);
	return fd;
}

/* Looks in the kernel's memory first, where nothing has to wait. */
static int find_handle(int dir, const char *path, uint64_t resolve)
{
	struct foreign_work w = { .fd = dir == AT_FDCWD ? -1 : dir };
	struct lookup l = { .resolve = resolve };
	size_t n = strlen(path);
	int handle = open_how(dir, path, resolve | RESOLVE_CACHED);

	if (handle >= 0 || (errno != EAGAIN && errno != EINVAL && errno != ENOSYS && errno != EPERM))
		return handle;
	if (n >= sizeof(l.path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(l.path, path, n + 1);
	w.n = offsetof(struct lookup, path) + n + 1;
	memcpy(w.question, &l, w.n);
	return foreign_process_run(lookup_work, &w);
}

static bool is_same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

/* Fallback without /proc: opens the path again and checks that it is still the file that was examined. */
static int open_same(int dir, const char *path, const struct statx *looked)
{
	int fd = openat(dir, path, OPEN_FLAGS);
	struct statx st;

	if (fd < 0 || (stat_handle(fd, &st) && is_same_file(&st, looked)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int foreign_open(int dir, const char *path)
{
	int handle = find_handle(dir, path, 0), fd;
	struct statx looked;
	bool good = handle >= 0 && stat_handle(handle, &looked) && S_ISREG(looked.stx_mode);

	fd = foreign_reopen(handle);
	if (good && fd < 0 && errno == ENOENT)
		fd = open_same(dir, path, &looked);
	return fd;
}

int foreign_open_below(int root, const char *path)
{
	return foreign_reopen(find_handle(root, path, RESOLVE_IN_ROOT));
}
