/*
 * Files of servers: which device a wait is blamed on, and the part of a growing file that is copied. In this
 * test no file system counts as local, and a lookup through the directory "way" stalls if it is a later one.
 *	record-remote DIRECTORY		with dir/file, dir/other and the link way -> .
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/host/host.h"
#include "tests/lib/check.h"

int __real_nsfile_find(int root, const char *name);
int __wrap_nsfile_find(int root, const char *name);
enum mount_kind __wrap_mounts_kind(struct mounts *m, const struct statx *st);
bool __wrap_mounts_is_local_there(uint32_t pid, const struct statx *st);

enum mount_kind __wrap_mounts_kind(struct mounts *m, const struct statx *st)
{
	(void)m, (void)st;
	return MOUNT_SERVER;
}

bool __wrap_mounts_is_local_there(uint32_t pid, const struct statx *st)
{
	(void)pid, (void)st;
	return false;
}

/* Called in the opener's second process. */
int __wrap_nsfile_find(int root, const char *name)
{
	static unsigned int n;

	if (strstr(name, "/way/") && n++ > 0)
		pause();
	return __real_nsfile_find(root, name);
}

static const char *directory;
static uint32_t questions;

/* Asks for a file in the directory, as a jitdump file of this process. */
static struct opener_answer ask(struct opener *o, const char *name, uint64_t from)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct opener_answer a;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!opener_ask(o, &(struct opener_question){ .want = OPENER_DUMP, .id = ++questions, .from = from,
						      .pid = (uint32_t)getpid(), .path = slice_of(path) }))
		abort();
	while (!opener_take(o, host_mono_ns(), &a))
		nanosleep(&pause, NULL);
	return a;
}

static void close_answer(const struct opener_answer *a)
{
	if (a->fd >= 0)
		close(a->fd);
}

static void check_blame(void)
{
	struct opener *o = opener_new();
	struct opener_answer a;

	if (!check(o, "the opener begins"))
		return;
	a = ask(o, "way/dir/file", 0);
	check(a.said == OPENER_OPENED && a.copied, "a server on the way to a file need answer only once");
	close_answer(&a);
	opener_free(o);

	o = opener_new();
	if (!o)
		abort();
	a = ask(o, "way/dir/none", 0); /* which is looked for in two places */
	check_is(a.said, OPENER_SILENT, "it does not answer when another file is looked for");
	close_answer(&a);
	a = ask(o, "dir/other", 0);
	check_is(a.said, OPENER_OPENED, "the device of the last directory is not blamed for that");
	close_answer(&a);
	opener_free(o);
}

/* Returns the bytes of memory that the answer's copy takes. */
static uint64_t memory_of(const struct opener_answer *a)
{
	struct stat st;

	return a->fd >= 0 && fstat(a->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : UINT64_MAX;
}

static void check_parts(void)
{
	enum { SIZE = 1 << 20 };
	struct opener *o = opener_new();
	struct opener_answer a;
	char path[4096];

	snprintf(path, sizeof(path), "%s/dir/file", directory);
	if (!o || truncate(path, SIZE) != 0)
		abort();
	a = ask(o, "dir/file", 0);
	check(a.from == 0 && memory_of(&a) >= SIZE, "a jitdump file is copied");
	close_answer(&a);
	a = ask(o, "dir/file", SIZE / 2);
	check(a.fd >= 0 && a.from == SIZE / 2 && memory_of(&a) > 0, "... without the bytes that are known");
	close_answer(&a);
	a = ask(o, "dir/file", SIZE);
	check(a.fd >= 0 && a.from == SIZE && memory_of(&a) == 0, "... and nothing if all are");
	close_answer(&a);
	a = ask(o, "dir/file", 10 * SIZE);
	check(a.fd >= 0 && a.from <= SIZE && memory_of(&a) == 0,
	      "... or if its last record is not all there");
	close_answer(&a);
	opener_free(o);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	directory = argv[1];
	check_blame();
	check_parts();
	return checks_done();
}
