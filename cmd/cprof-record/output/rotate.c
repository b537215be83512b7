#include "cmd/cprof-record/output/rotate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "common/base/array.h"
#include "common/base/libc.h"
#include "common/stream/block.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

#define PART ".part"

enum { SECOND = 1000000000, NAMES_MOST = 10000, RESERVE_SHARE = 16, AHEAD_MOST = 1 << 30,
       GLOB_BYTES = 8192 }; /* that of 255 bytes of conversions, and more */

/* A file that has its name. */
struct closed {
	char *name;
	uint64_t bytes, time, age; /* time: of the last change; ns */
};

struct closed_list {
	struct closed *items;
	size_t n, cap;
};

/* Notes the current clock if it was stepped to a time that no earlier one would have now. */
static void note_clock(struct rotate *f)
{
	uint64_t clock = host_boot_epoch_ns();

	for (size_t i = 0; i < f->n_clocks; i++) {
		int64_t apart = (int64_t)(clock - f->clocks[i]);

		if (apart > -SECOND && apart < SECOND)
			return;
	}
	if (f->n_clocks == ROTATE_CLOCKS)
		memmove(f->clocks, f->clocks + 1, --f->n_clocks * sizeof(*f->clocks));
	f->clocks[f->n_clocks++] = clock;
}

/*
 * Returns the age of a file at the given CLOCK_BOOTTIME. Any of the clocks may have given it the time of its
 * last change. If it is not in the future by several, the one that makes it youngest counts: a step thus ages
 * no file at once, and a file stays too long by the step at most.
 */
static uint64_t age_of(const struct rotate *f, uint64_t changed, uint64_t boot)
{
	uint64_t age = UINT64_MAX;

	for (size_t i = 0; i < f->n_clocks; i++) {
		uint64_t now = f->clocks[i] + boot;

		if (now >= changed && now - changed < age)
			age = now - changed;
	}
	return age == UINT64_MAX ? 0 : age;
}

/* Reads the number that sudo left in the environment; false: there is none. */
static bool sudo_id(const char *name, unsigned int *id)
{
	const char *text = getenv(name);
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (digits == 0 || digits > 9 || text[digits])
		return false;
	*id = (unsigned int)strtoul(text, NULL, 10);
	return true;
}

/* Returns the owner that new files get. */
static uid_t owner_of_files(void)
{
	unsigned int uid, gid;

	return geteuid() == 0 && sudo_id("SUDO_UID", &uid) && sudo_id("SUDO_GID", &gid) ? uid : geteuid();
}

int rotate_create(int dir, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir, name, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	unsigned int uid, gid;

	if (fd >= 0 && geteuid() == 0 && sudo_id("SUDO_UID", &uid) && sudo_id("SUDO_GID", &gid))
		(void)!fchown(fd, uid, gid); /* on a file system without owners it stays root's */
	return fd;
}

void rotate_init(struct rotate *f)
{
	f->dir = f->fd = -1;
	f->owner = owner_of_files();
	note_clock(f);
}

int rotate_open_dir(const struct rotate *f)
{
	int dir;

	host_user_begin();
	dir = open(f->pattern.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	host_user_end();
	return dir;
}

void rotate_follow_dir(struct rotate *f)
{
	struct stat named, open_one;
	int dir;

	if (stat(f->pattern.dir, &named) != 0 ||
	    (fstat(f->dir, &open_one) == 0 && named.st_dev == open_one.st_dev &&
	     named.st_ino == open_one.st_ino))
		return;
	dir = rotate_open_dir(f);
	if (dir < 0)
		return;
	close(f->dir);
	f->dir = dir;
}

/* Before Linux 5.12 the kernel never knows. */
bool rotate_dir_is_same(const struct rotate *f)
{
	enum { WANTED = STATX_INO | STATX_MNT_ID, HOW = AT_EMPTY_PATH | AT_STATX_DONT_SYNC };
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_CACHED };
	struct statx named, open_one;
	bool same;
	int dir;

	host_user_begin();
	dir = (int)syscall(SYS_openat2, AT_FDCWD, f->pattern.dir, &how, sizeof(how));
	host_user_end();
	if (dir < 0)
		return false;
	same = statx(dir, "", HOW, WANTED, &named) == 0 && statx(f->dir, "", HOW, WANTED, &open_one) == 0 &&
	       named.stx_ino == open_one.stx_ino && named.stx_mnt_id == open_one.stx_mnt_id &&
	       named.stx_dev_major == open_one.stx_dev_major && named.stx_dev_minor == open_one.stx_dev_minor;
	close(dir);
	return same;
}

void rotate_release(struct rotate *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	file_name_release(&f->pattern);
	buf_release(&f->part);
}

static bool is_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

/*
 * Reserves space for further bytes, until the file is closed. Returns false only if the disk is full, not if
 * the file system cannot reserve.
 */
static bool reserve_bytes(struct rotate *f, uint64_t bytes)
{
	struct stat st;

	return fstat(f->fd, &st) != 0 || bytes == 0 ||
	       fallocate(f->fd, FALLOC_FL_KEEP_SIZE, st.st_size, (off_t)bytes) == 0 || !is_full(errno);
}

/* Returns the least reservation. *wanted: the one for which old files are removed. */
static uint64_t reserve_sizes(const struct rotate *f, uint64_t *wanted)
{
	uint64_t least = ROTATE_RESERVE, disk;
	struct statvfs fs;

	*wanted = f->ahead;
	if (fstatvfs(f->fd, &fs) == 0) {
		disk = fs.f_blocks * fs.f_frsize;
		if (disk / RESERVE_SHARE < least)
			least = disk / RESERVE_SHARE;
		if (disk / 2 < *wanted)
			*wanted = disk / 2;
	}
	if (*wanted < least)
		*wanted = least;
	return least;
}

/*
 * Opens a file of the directory. Another user may mount a file system over a name in a shared directory, which
 * need not answer: it is not entered.
 */
static int open_in_dir(const struct rotate *f, const char *name, int flags)
{
	struct open_how how = { .resolve = RESOLVE_NO_XDEV };
	int fd;

	flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	how.flags = (uint64_t)flags;
	fd = (int)syscall(SYS_openat2, f->dir, name, &how, sizeof(how));
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? openat(f->dir, name, flags) : fd;
}

/* Likewise without a question to the file system. Returns true for a regular file. */
static bool look_at_file(const struct rotate *f, const char *name, struct statx *st)
{
	enum { HOW = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC };

	return statx(f->dir, name, HOW, STATX_BASIC_STATS, st) == 0 && S_ISREG(st->stx_mode);
}

static bool begins_as_capture(const struct rotate *f, const char *name)
{
	uint8_t start[BLOCK_SYNC_BYTES];
	int fd = open_in_dir(f, name, O_RDONLY);
	bool good = fd >= 0 && read(fd, start, sizeof(start)) == sizeof(start) &&
		    memcmp(start, BLOCK_SYNC, sizeof(start)) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static bool has_end(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

/* Writes the glob of names that have a number. */
static void put_numbered(const struct rotate *f, char *to, size_t size, const char *before)
{
	size_t n = strlen(f->pattern.glob), end = f->pattern.end;

	snprintf(to, size, "%s%.*sn[0-9]*%s", before, (int)(n - end), f->pattern.glob, f->pattern.glob + n - end);
}

/*
 * Returns true for a capture that matches our pattern: as it is, with a number because the name was taken, or
 * compressed by the command of --on-rotate.
 */
static bool is_ours(const struct rotate *f, const char *name)
{
	static const char *const ends[] = { ".gz", ".zst", ".xz", ".lz4", ".bz2" };
	char glob[GLOB_BYTES];

	if (name[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(glob, sizeof(glob), "%s*%s", f->pattern.glob, ends[i]);
		if (has_end(name, ends[i]) && fnmatch(glob, name, FNM_PERIOD) == 0)
			return true;
	}
	put_numbered(f, glob, sizeof(glob), "");
	return (fnmatch(f->pattern.glob, name, FNM_PERIOD) == 0 || fnmatch(glob, name, FNM_PERIOD) == 0) &&
	       begins_as_capture(f, name);
}

static int older_first(const void *a, const void *b)
{
	const struct closed *x = a, *y = b;

	if (x->age != y->age)
		return x->age > y->age ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return strcmp(x->name, y->name);
}

static DIR *open_list(const struct rotate *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/*
 * Returns true for a file of another owner in a directory that others may write to: it must not push our
 * files out, or be given to the command of --on-rotate.
 */
static bool is_strange(const struct rotate *f, uid_t owner)
{
	struct stat dir;

	return owner != f->owner && fstat(f->dir, &dir) == 0 &&
	       (dir.st_uid != geteuid() || (dir.st_mode & (S_IWGRP | S_IWOTH)));
}

/* Lists all of our named files, the oldest first. */
static struct closed_list list_closed(struct rotate *f)
{
	uint64_t boot = host_boot_ns();
	struct closed_list l = { 0 };
	DIR *d = open_list(f);
	struct dirent *e;
	struct statx st;

	note_clock(f);
	while (d && (e = readdir(d))) {
		if (f->progress)
			f->progress(f->progress_arg);
		if (!look_at_file(f, e->d_name, &st) || is_strange(f, st.stx_uid) || !is_ours(f, e->d_name) ||
		    !grow_array(&l.items, &l.cap, l.n, sizeof(*l.items)))
			continue;
		l.items[l.n].name = strdup(e->d_name);
		if (!l.items[l.n].name)
			continue;
		l.items[l.n].bytes = st.stx_size;
		l.items[l.n].time = (uint64_t)st.stx_mtime.tv_sec * SECOND + st.stx_mtime.tv_nsec;
		l.items[l.n].age = age_of(f, l.items[l.n].time, boot);
		l.n++;
	}
	if (d)
		closedir(d);
	if (l.n)
		qsort(l.items, l.n, sizeof(*l.items), older_first);
	return l;
}

static void release_list(struct closed_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].name);
	free(l->items);
}

static bool remove_one(struct rotate *f, const struct closed *c)
{
	if (unlinkat(f->dir, c->name, 0) != 0)
		return false;
	f->removed++;
	return true;
}

bool rotate_reserve(struct rotate *f)
{
	uint64_t wanted, least = reserve_sizes(f, &wanted);
	struct closed_list l;
	bool good = reserve_bytes(f, wanted);
	int error = errno; /* the search for older files has others */

	if (good)
		return true;
	l = list_closed(f);
	for (size_t i = 0; i < l.n && !good; i++)
		good = remove_one(f, &l.items[i]) && reserve_bytes(f, wanted);
	release_list(&l);
	good = good || (wanted > least && reserve_bytes(f, least));
	errno = error;
	return good;
}

void rotate_wrote(struct rotate *f, uint64_t bytes, bool full)
{
	uint64_t ahead = bytes < AHEAD_MOST ? 2 * bytes : AHEAD_MOST;

	if (full) /* the next write is presumably as long */
		ahead = f->ahead < ROTATE_RESERVE ? 2 * ROTATE_RESERVE : f->ahead < AHEAD_MOST ? 2 * f->ahead : AHEAD_MOST;
	f->ahead = ahead > f->ahead ? ahead : f->ahead - f->ahead / 16;
}

void rotate_keep(struct rotate *f)
{
	struct closed_list l;
	uint64_t bytes = 0;

	if (!f->keep_bytes && !f->keep_ns)
		return;
	l = list_closed(f);
	for (size_t i = 0; i < l.n; i++)
		bytes += l.items[i].bytes;
	for (size_t i = 0; i + 1 < l.n; i++) {
		const struct closed *c = &l.items[i];

		if (!(f->keep_ns && c->age > f->keep_ns) && !(f->keep_bytes && bytes > f->keep_bytes))
			break;
		if (remove_one(f, c))
			bytes -= c->bytes;
	}
	release_list(&l);
}

/* Gives the part its name, with a number if the name is taken. */
static bool give_name(struct rotate *f, const char *part, struct buf *name)
{
	size_t n = strlen(part) - 1 - strlen(PART);

	for (unsigned int i = 0; i < NAMES_MOST; i++) {
		buf_clear(name);
		file_name_number(&f->pattern, (struct slice){ (const uint8_t *)part + 1, n }, i, name);
		if (name->failed)
			return false;
		if (renameat2(f->dir, part, f->dir, buf_cstr(name), RENAME_NOREPLACE) == 0)
			return true;
		if (errno == EINVAL || errno == ENOSYS) { /* a file system without RENAME_NOREPLACE */
			if (faccessat(f->dir, buf_cstr(name), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
				continue;
			return renameat(f->dir, part, f->dir, buf_cstr(name)) == 0;
		}
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static bool is_part(const struct rotate *f, const char *name)
{
	char glob[GLOB_BYTES], numbered[GLOB_BYTES];

	snprintf(glob, sizeof(glob), ".%s" PART, f->pattern.glob);
	put_numbered(f, numbered, sizeof(numbered) - sizeof(PART), ".");
	strcat(numbered, PART);
	return name[0] == '.' && (fnmatch(glob, name, 0) == 0 || fnmatch(numbered, name, 0) == 0);
}

/*
 * Locks a part. Returns false with EWOULDBLOCK if another recorder has it, or had it: by the time of the
 * lock, that one may have named or removed the file, and the name may be another file's. st: as of the
 * lock.
 */
static bool lock_part(const struct rotate *f, int fd, const char *part, struct stat *st)
{
	struct statx named;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, st) != 0)
		return false;
	if (look_at_file(f, part, &named) && named.stx_ino == st->st_ino &&
	    makedev(named.stx_dev_major, named.stx_dev_minor) == st->st_dev)
		return true;
	errno = EWOULDBLOCK;
	return false;
}

/* Names a part that nobody has locked; the recorder that locks it first gives the name. */
static bool adopt_part(struct rotate *f, const char *part, struct buf *path)
{
	int fd = open_in_dir(f, part, O_RDWR);
	struct buf name = { 0 };
	struct stat st;
	bool done = false;

	if (fd < 0)
		return false;
	if (lock_part(f, fd, part, &st) && S_ISREG(st.st_mode) && !is_strange(f, st.st_uid)) {
		if (st.st_size == 0)
			unlinkat(f->dir, part, 0);
		else
			done = ftruncate(fd, st.st_size) == 0 && give_name(f, part, &name);
	}
	if (done)
		buf_printf(path, "%s/%s", f->pattern.dir, buf_cstr(&name));
	close(fd);
	buf_release(&name);
	return done;
}

size_t rotate_adopt(struct rotate *f, void (*adopted)(void *context, const char *path), void *context)
{
	struct buf path = { 0 };
	DIR *d = open_list(f);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		buf_clear(&path);
		if (!is_part(f, e->d_name) || !adopt_part(f, e->d_name, &path))
			continue;
		adopted(context, buf_cstr(&path));
		n++;
	}
	buf_release(&path);
	if (d)
		closedir(d);
	return n;
}

/*
 * Creates the part and locks it. A recorder that adopts files may have the lock first: it removes the file,
 * which is empty.
 */
static int create_part(const struct rotate *f, const char *part, struct stat *st)
{
	int fd = rotate_create(f->dir, part, O_RDWR, f->mode), error;

	if (fd < 0 || lock_part(f, fd, part, st))
		return fd;
	error = errno;
	if (error != EWOULDBLOCK)
		unlinkat(f->dir, part, 0);
	close(fd);
	errno = error;
	return -1;
}

/* The part's name is taken if another recorder with the same pattern began in the same second. */
static int open_part(struct rotate *f)
{
	struct buf name = { 0 };
	struct stat st;
	int fd = -1;

	errno = EINVAL;
	if (!file_name_name(&f->pattern, time(NULL), &name)) {
		buf_release(&name);
		return -1;
	}
	for (unsigned int i = 0; fd < 0 && i < NAMES_MOST; i++) {
		buf_clear(&f->part);
		buf_byte(&f->part, '.');
		file_name_number(&f->pattern, buf_view(&name), i, &f->part);
		buf_text(&f->part, PART);
		fd = create_part(f, buf_cstr(&f->part), &st);
		if (fd < 0 && errno != EEXIST && errno != EWOULDBLOCK)
			break;
	}
	if (fd >= 0)
		f->owner = st.st_uid; /* a server may have changed it */
	buf_release(&name);
	return fd;
}

int rotate_open(struct rotate *f)
{
	f->fd = open_part(f);
	if (f->fd < 0 || !rotate_reserve(f)) {
		int error = errno;

		if (f->fd >= 0)
			rotate_close(f, 0, NULL);
		errno = error;
		return -1;
	}
	return f->fd;
}

bool rotate_close(struct rotate *f, uint64_t bytes, struct buf *path)
{
	struct buf name = { 0 };
	bool good;

	if (bytes == 0) {
		good = unlinkat(f->dir, buf_cstr(&f->part), 0) == 0;
	} else {
		good = ftruncate(f->fd, (off_t)bytes) == 0 && give_name(f, buf_cstr(&f->part), &name);
		f->unnamed = f->unnamed || !good;
		if (good && path)
			buf_printf(path, "%s/%s", f->pattern.dir, buf_cstr(&name));
	}
	buf_release(&name);
	close(f->fd); /* releases the lock, so not before the file has its name */
	f->fd = -1;
	return good;
}
