/*
 * Two recorders with one pattern: a file that one of them is writing is never named or removed by the other,
 * whatever happens just before a lock. And a full disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/output/rotate.h"
#include "common/stream/block.h"
#include "tests/lib/check.h"

int __wrap_flock(int fd, int operation);
int __real_flock(int fd, int operation);

static void (*before_lock)(void); /* called once, before the next lock */

int __wrap_flock(int fd, int operation)
{
	void (*call)(void) = before_lock;

	before_lock = NULL;
	if (call)
		call();
	return __real_flock(fd, operation);
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t n);
int __real_fallocate(int fd, int mode, off_t at, off_t n);
int __wrap_unlinkat(int at, const char *name, int flags);
int __real_unlinkat(int at, const char *name, int flags);

static bool full; /* the disk is, and no file of it can be removed */

int __wrap_fallocate(int fd, int mode, off_t at, off_t n)
{
	if (!full)
		return __real_fallocate(fd, mode, at, n);
	errno = ENOSPC;
	return -1;
}

int __wrap_unlinkat(int at, const char *name, int flags)
{
	if (!full)
		return __real_unlinkat(at, name, flags);
	errno = EPERM;
	return -1;
}

static const char *dir;
static struct rotate one, other;
static size_t adopted;

static void count_file(void *context, const char *path)
{
	(void)context, (void)path;
	adopted++;
}

static struct rotate recorder(void)
{
	struct rotate f = { .mode = 0600 };
	struct buf path = { 0 }, error = { 0 };

	rotate_init(&f);
	buf_printf(&path, "%s/x-%%Y.cprof", dir);
	if (!file_name_init(&f.pattern, buf_cstr(&path), FILE_NAME_AT_FILE, &error))
		abort();
	f.dir = rotate_open_dir(&f);
	buf_release(&path);
	buf_release(&error);
	return f;
}

static void adopt_by_other(void)
{
	rotate_adopt(&other, count_file, NULL);
}

static void write_and_die(void)
{
	if (write(one.fd, "data", 4) != 4)
		abort();
	close(one.fd);
	one.fd = -1;
}

/* The first recorder ends its file, and a third one begins one under the same name. */
static struct rotate third;

static void name_and_begin(void)
{
	if (write(one.fd, "data", 4) != 4 || !rotate_close(&one, 4, NULL) || rotate_open(&third) < 0)
		abort();
}

/* Returns the size of the file; -1: there is none. */
static long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void check_file(struct rotate *f, const char *what)
{
	struct buf path = { 0 };

	check(write(f->fd, "more", 4) == 4 && rotate_close(f, 4, &path) && size_of(buf_cstr(&path)) == 4,
	      what);
	buf_release(&path);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dir = argv[1];
	one = recorder();
	other = recorder();
	third = recorder();

	check(rotate_open(&one) >= 0 && rotate_adopt(&other, count_file, NULL) == 0,
	      "a locked part is not adopted");
	check_file(&one, "... and gets its name");

	before_lock = adopt_by_other;
	check(rotate_open(&one) >= 0 && adopted == 0,
	      "a part can be begun while another recorder looks for parts");
	check_file(&one, "... and is a file with a name");

	if (rotate_open(&one) < 0)
		abort();
	write_and_die();
	check(rotate_adopt(&other, count_file, NULL) == 1 && adopted == 1,
	      "the part of a killed recorder is adopted");

	if (rotate_open(&one) < 0)
		abort();
	before_lock = write_and_die;
	check(rotate_adopt(&other, count_file, NULL) == 1 && adopted == 2,
	      "... also if it wrote to the last moment");

	if (rotate_open(&one) < 0)
		abort();
	before_lock = name_and_begin;
	check(rotate_adopt(&other, count_file, NULL) == 0 && adopted == 2,
	      "the part that took the place of a finished one is not adopted");
	check_file(&third, "... and gets its name");

	if (rotate_open(&one) < 0 || write(one.fd, BLOCK_SYNC, BLOCK_SYNC_BYTES) != BLOCK_SYNC_BYTES ||
	    !rotate_close(&one, BLOCK_SYNC_BYTES, NULL))
		abort();
	full = true;
	check(rotate_open(&one) < 0 && errno == ENOSPC,
	      "a full disk is the reason, also if no older file can be removed");
	full = false;

	rotate_release(&one);
	rotate_release(&other);
	rotate_release(&third);
	return checks_done();
}
