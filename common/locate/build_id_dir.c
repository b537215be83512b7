#include "common/locate/build_id_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/foreign/foreign.h"

enum { STALE = 24 * 60 * 60, TRIES = 100, LOCK_TRIES = 200, LOCK_PAUSE_NS = 10 * 1000 * 1000 };

static int open_there(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a folder, and creates it if necessary. */
static int open_folder(int at, const char *name)
{
	if (mkdirat(at, name, 0777) != 0 && errno != EEXIST)
		return -1;
	return open_there(at, name);
}

/* Removes files whose writers were killed. */
static void remove_stale(int tmp)
{
	int fd = openat(tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "new.", 4) == 0 && fstatat(tmp, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime < now - STALE)
			unlinkat(tmp, e->d_name, 0);
	}
	if (d)
		closedir(d);
}

bool build_id_dir_open(struct build_id_dir *s, const char *dir)
{
	*s = (struct build_id_dir){ .root = -1, .ids = -1, .tmp = -1, .lock = -1 };
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return false;
	s->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->root < 0)
		return false;
	s->tmp = open_there(s->root, ".tmp");
	if (s->tmp >= 0)
		remove_stale(s->tmp);
	return true;
}

/* Creates the folders at the first write. */
static bool make_folders(struct build_id_dir *s)
{
	if (s->ids < 0)
		s->ids = open_folder(s->root, ".build-id");
	if (s->ids >= 0 && s->tmp < 0)
		s->tmp = open_folder(s->root, ".tmp");
	return s->ids >= 0 && s->tmp >= 0;
}

void build_id_dir_release(struct build_id_dir *s)
{
	int *fds[] = { &s->root, &s->ids, &s->tmp, &s->lock };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* Splits an id into "ab" and "cdef….debug". */
static void split_name(struct slice id, char folder[3], char file[256])
{
	size_t at = 0;

	snprintf(folder, 3, "%02x", id.p[0]);
	for (size_t i = 1; i < id.n && i < BUILD_ID_DIR_ID_MOST; i++)
		at += (size_t)snprintf(file + at, 256 - at, "%02x", id.p[i]);
	snprintf(file + at, 256 - at, ".debug");
}

void build_id_dir_name(struct buf *name, struct slice id)
{
	char folder[3], file[256];

	split_name(id, folder, file);
	buf_printf(name, ".build-id/%s/%s", folder, file);
}

/* Says errno that there is no file, or none that is regular? Another one may be better than a new one. */
static bool is_absent(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENOEXEC;
}

int build_id_dir_look(const struct build_id_dir *s, struct slice id, bool *absent)
{
	struct buf name = { 0 };
	int fd;

	*absent = true;
	if (id.n < BUILD_ID_DIR_ID_LEAST || id.n > BUILD_ID_DIR_ID_MOST)
		return -1;
	build_id_dir_name(&name, id);
	fd = foreign_open(s->root, buf_cstr(&name));
	*absent = fd < 0 && is_absent();
	buf_release(&name);
	return fd;
}

bool build_id_dir_begin(struct build_id_dir *s, struct build_id_dir_file *t)
{
	struct timespec now;

	/* O_EXCL makes the name unique, also on shared file systems; the rest makes a second try rare. */
	for (unsigned int i = 0; make_folders(s) && i < TRIES; i++) {
		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(t->name, sizeof(t->name), "new.%x.%llx%09lx.%x", (unsigned int)getpid(),
			 (unsigned long long)now.tv_sec, now.tv_nsec, s->count++);
		t->fd = openat(s->tmp, t->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (t->fd >= 0 || errno != EEXIST)
			return t->fd >= 0;
	}
	return false;
}

void build_id_dir_drop(struct build_id_dir *s, struct build_id_dir_file *t)
{
	int e = errno;

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	unlinkat(s->tmp, t->name, 0);
	errno = e;
}

/*
 * Locks the directory, so that comparing and replacing a file are one step, and the better of two files
 * stays. Any user who may open a file can lock it and never unlock it, so the lock is a file that only those
 * who may write here can open, and even they are waited for only two seconds in all. Without the lock, the
 * better file stays by chance, but a file is always whole.
 */
static void lock_dir(struct build_id_dir *s)
{
	struct timespec pause = { 0, LOCK_PAUSE_NS };

	if (s->lock < 0)
		s->lock = openat(s->tmp, "lock", O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
				 0222);
	while (s->lock >= 0 && flock(s->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
	       s->lock_tries < LOCK_TRIES) {
		s->lock_tries++;
		nanosleep(&pause, NULL);
	}
}

static void unlock_dir(const struct build_id_dir *s)
{
	int e = errno;

	if (s->lock >= 0)
		flock(s->lock, LOCK_UN);
	errno = e;
}

enum build_id_dir_put build_id_dir_put(struct build_id_dir *s, struct build_id_dir_file *t, struct slice id, bool (*keep)(void *arg, int fd),
			 void *arg)
{
	char folder[3], file[256];
	enum build_id_dir_put result = BUILD_ID_DIR_FAILED;
	int dir, there, fd = t->fd;

	split_name(id, folder, file);
	dir = fsync(fd) == 0 ? open_folder(s->ids, folder) : -1;
	if (dir >= 0) {
		lock_dir(s);
		there = foreign_open(dir, file);
		if (there >= 0 && keep(arg, there)) {
			result = BUILD_ID_DIR_KEPT;
		} else if (there >= 0 || is_absent()) {
			t->fd = -1;
			/* close reports what a shared file system could not store */
			if (close(fd) == 0 && renameat(s->tmp, t->name, dir, file) == 0)
				result = BUILD_ID_DIR_PUT;
		}
		unlock_dir(s);
	}
	if (result != BUILD_ID_DIR_PUT)
		build_id_dir_drop(s, t);
	if (dir >= 0)
		close(dir);
	return result;
}
