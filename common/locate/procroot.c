#include "common/locate/procroot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/foreign/foreign.h"
#include "common/foreign/foreign_process.h"

enum {
	STARTS_APART = 100000000, /* ns: the kernel counts in ticks, the recorder from when it noticed */
	THREADS_TRIED = 64,
	MAPS_MAX = 1 << 20,     /* lines */
	ROOTS_MAX = 4096,
	CONTAINER_ID = 64,      /* digits */
};

int procroot_open_below(int dir, const char *display, const char *path, struct buf *opened)
{
	int fd;

	buf_clear(opened);
	buf_text(opened, display);
	if (path[0] != '/')
		buf_byte(opened, '/');
	buf_text(opened, path);
	if (dir < 0 || opened->failed) {
		errno = ENOENT;
		return -1;
	}
	fd = foreign_open_below(dir, path);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or in a strict sandbox */
		fd = foreign_open(AT_FDCWD, buf_cstr(opened));
	return fd;
}

static bool read_text(const char *path, char *text, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, cap - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Returns true if the process with this PID is still the recorded one. The kernel's start time includes the
 * time that the machine was suspended; the recorder's may or may not.
 */
static bool is_same_process(const struct module_user *u)
{
	uint64_t slept = now_ns(CLOCK_BOOTTIME) - now_ns(CLOCK_MONOTONIC), start;
	unsigned long long ticks;
	char path[64], text[1024], *rest;

	if (u->pid == 0 || u->pid > INT_MAX || u->start == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", u->pid);
	if (!read_text(path, text, sizeof(text)) || !(rest = strrchr(text, ')')) ||
	    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return false;
	start = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return u->start <= start + STARTS_APART && start <= u->start + slept + STARTS_APART;
}

/* Identifies a root: two processes with the same mount namespace and root directory see the same files. */
static bool identify_root(const char *proc, struct procroot_known *k)
{
	char path[96];
	struct statx root;
	struct stat mounts;

	snprintf(path, sizeof(path), "%s/root", proc);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &root) != 0) /* it may be on FUSE */
		return false;
	snprintf(path, sizeof(path), "%s/ns/mnt", proc);
	if (stat(path, &mounts) != 0)
		return false;
	k->mounts = mounts.st_ino;
	k->dev = makedev(root.stx_dev_major, root.stx_dev_minor);
	k->inode = root.stx_ino;
	return true;
}

static bool is_own(const struct procroot_known *k)
{
	struct procroot_known own;

	return identify_root("/proc/self", &own) && own.mounts == k->mounts && own.dev == k->dev &&
	       own.inode == k->inode;
}

/* Returns true if the root is a directory of our mount namespace (chroot): its paths start at our root. */
static bool own_mounts(const struct procroot_known *k)
{
	struct procroot_known own;

	return identify_root("/proc/self", &own) && own.mounts == k->mounts;
}

static enum procroot_state open_task(struct procroot *r, const char *proc, pid_t tid)
{
	struct procroot_known k;

	r->tid = tid;
	snprintf(r->path, sizeof(r->path), "%s/root", proc);
	if (!identify_root(proc, &k))
		return errno == EACCES || errno == EPERM ? PROCROOT_DENIED : PROCROOT_GONE;
	if (is_own(&k))
		return PROCROOT_OWN;
	r->own_mounts = own_mounts(&k);
	r->fd = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return r->fd >= 0 ? PROCROOT_FOREIGN : errno == EACCES ? PROCROOT_DENIED : PROCROOT_GONE;
}

enum procroot_state procroot_open_pid(struct procroot *r, pid_t pid)
{
	enum procroot_state state;
	char proc[48];
	struct dirent *e;
	DIR *d;

	*r = (struct procroot){ .fd = -1, .pid = pid };
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	state = open_task(r, proc, pid);
	if (state != PROCROOT_GONE)
		return state;
	/* If the main thread has exited nothing of it is left; the other threads have everything. */
	snprintf(proc, sizeof(proc), "/proc/%d/task", pid);
	d = opendir(proc);
	for (int i = 0; d && i < THREADS_TRIED && state == PROCROOT_GONE && (e = readdir(d)); i++) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0 || tid == pid)
			continue;
		snprintf(proc, sizeof(proc), "/proc/%d/task/%d", pid, tid);
		state = open_task(r, proc, tid);
	}
	if (d)
		closedir(d);
	return state;
}

enum procroot_state procroot_open(struct procroot *r, const struct module_user *u)
{
	*r = (struct procroot){ .fd = -1 };
	return is_same_process(u) ? procroot_open_pid(r, (pid_t)u->pid) : PROCROOT_GONE;
}

void procroot_close(struct procroot *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

int procroot_file(const struct procroot *r, const char *path, struct buf *opened)
{
	return procroot_open_below(r->fd, r->path, path, opened);
}

/* One line of /proc/PID/maps. */
struct line {
	uint64_t start, end, inode;
	unsigned int dev_major, dev_minor;
	const char *path;
};

static bool parse_line(char *text, struct line *l)
{
	int at = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %*4s %*x %x:%x %" SCNu64 " %n", &l->start, &l->end, &l->dev_major,
		   &l->dev_minor, &l->inode, &at) != 5)
		return false;
	l->path = text + at;
	text[strcspn(text, "\n")] = '\0';
	return l->inode != 0;
}

/* Compares two paths, ignoring " (deleted)". */
static bool same_path(struct slice recorded, const char *now)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(now), d = strlen(deleted);

	if (n > d && strcmp(now + n - d, deleted) == 0)
		n -= d;
	if (recorded.n > d && memcmp(recorded.p + recorded.n - d, deleted, d) == 0)
		recorded.n -= d;
	return recorded.n == n && memcmp(recorded.p, now, n) == 0;
}

enum { MATCH_NONE, MATCH_PLACE, MATCH_PATH, MATCH_BOTH, MATCH_INODE };

/* Returns how well a line matches. An address or a path is worth a try: the file is verified afterwards. */
static int match_line(const struct line *l, const struct module_identity *is)
{
	bool in_place = l->start <= is->user.map_start && is->user.map_start < l->end;

	if (is->inode && l->inode == is->inode && l->dev_major == is->dev_major && l->dev_minor == is->dev_minor)
		return MATCH_INODE;
	if (same_path(is->path, l->path)) /* memfds may share a name */
		return in_place ? MATCH_BOTH : MATCH_PATH;
	return is->build_id.n && in_place ? MATCH_PLACE : MATCH_NONE;
}

static int best_line(FILE *maps, const struct module_identity *is, struct line *best)
{
	char *text = NULL;
	size_t cap = 0;
	struct line l;
	int is_now, was = MATCH_NONE;

	for (int i = 0; i < MAPS_MAX && was < MATCH_INODE && getline(&text, &cap, maps) > 0; i++) {
		if (!parse_line(text, &l) || (is_now = match_line(&l, is)) <= was)
			continue;
		was = is_now;
		*best = l;
	}
	free(text);
	return was;
}

/* Opens the program itself, which any user may do who may trace the process; map_files needs a capability. */
static int open_exe(const struct procroot *r, const struct module_identity *is, struct buf *opened, bool *same)
{
	char path[96], target[PATH_MAX];
	struct statx st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", r->tid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -1;
	target[n] = '\0';
	if (!same_path(is->path, target)) {
		errno = EPERM;
		return -1;
	}
	buf_clear(opened);
	buf_text(opened, path);
	fd = open(path, O_PATH | O_CLOEXEC);
	*same = fd >= 0 && is->inode &&
		statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st) == 0 && st.stx_ino == is->inode &&
		st.stx_dev_major == is->dev_major && st.stx_dev_minor == is->dev_minor;
	return fd < 0 ? -1 : foreign_reopen(fd);
}

/* Question and answer of mapped_work. */
struct mapped_question {
	pid_t pid, tid;
	uint64_t dev_major, dev_minor, inode, map_start, map_end;
	size_t id_n, path_n;
	uint8_t path[PATH_MAX + 64];
};

struct mapped_answer {
	int matched;
	uint64_t start, end;
};

/* A process may hold the lock of its memory for ever, for which maps and map_files wait. */
static int mapped_work(struct foreign_work *w)
{
	static struct mapped_question q;
	struct module_identity is;
	struct mapped_answer a = { 0 };
	struct line l;
	char path[96];
	struct stat owner;
	FILE *maps;

	memcpy(&q, w->question, w->n);
	is = (struct module_identity){ .dev_major = q.dev_major, .dev_minor = q.dev_minor, .inode = q.inode,
				       .path = { q.path, q.path_n }, .build_id = { q.path, q.id_n },
				       .user = { .map_start = q.map_start, .map_end = q.map_end } };
	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", q.pid, q.tid);
	if (stat(path, &owner) != 0 || !foreign_process_touch_user(owner.st_uid))
		return -1;
	maps = fopen(path, "re");
	if (!maps)
		return -1;
	a.matched = best_line(maps, &is, &l);
	fclose(maps);
	if (a.matched != MATCH_NONE) {
		a.start = l.start;
		a.end = l.end;
	}
	memcpy(w->answer, &a, sizeof(a));
	if (a.matched == MATCH_NONE) {
		errno = ENOENT;
		return -1;
	}
	/* Only processes have this directory, but any thread can be named as if it were one. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, q.tid, l.start, l.end);
	return open(path, O_PATH | O_CLOEXEC);
}

int procroot_mapped(const struct procroot *r, const struct module_identity *is, struct buf *opened, bool *same)
{
	static struct mapped_question q;
	struct foreign_work w = { .fd = -1 };
	struct mapped_answer a;
	int handle, error;

	*same = false;
	if (is->path.n > sizeof(q.path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	q = (struct mapped_question){
		.pid = r->pid, .tid = r->tid, .inode = is->inode, .id_n = is->build_id.n, .path_n = is->path.n,
		.dev_major = is->dev_major, .dev_minor = is->dev_minor,
		.map_start = is->user.map_start, .map_end = is->user.map_end,
	};
	memcpy(q.path, is->path.p, is->path.n);
	w.n = offsetof(struct mapped_question, path) + q.path_n;
	memcpy(w.question, &q, w.n);
	handle = foreign_process_run(mapped_work, &w);
	error = errno;
	memcpy(&a, w.answer, sizeof(a));
	if (a.matched != MATCH_NONE) {
		*same = a.matched == MATCH_INODE;
		buf_clear(opened);
		buf_printf(opened, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, r->tid, a.start, a.end);
	}
	errno = error;
	if (handle < 0 && a.matched != MATCH_NONE && (error == EPERM || error == EACCES))
		return open_exe(r, is, opened, same);
	return handle < 0 ? -1 : foreign_reopen(handle);
}

struct slice procroot_container(struct slice cgroup)
{
	size_t digits = 0;

	if (cgroup.n <= 1)
		return (struct slice){ NULL, 0 };
	for (size_t i = cgroup.n; i > 0; i--) {
		digits = isxdigit(cgroup.p[i - 1]) ? digits + 1 : 0;
		if (digits == CONTAINER_ID)
			return (struct slice){ cgroup.p + i - 1, CONTAINER_ID };
	}
	return cgroup;
}

void procroots_release(struct procroots *rs)
{
	if (rs->groups)
		intern_release(rs->groups);
	free(rs->groups);
	free(rs->items);
	*rs = (struct procroots){ 0 };
}

/* Reads the control groups of a process, as text. */
static bool groups_of(struct procroots *rs, const char *proc, uint32_t *groups)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "%s/cgroup", proc);
	read_text(path, text, sizeof(text));
	return intern_add(rs->groups, slice_of(text), groups);
}

static bool add_root(struct procroots *rs, pid_t pid, const char *proc)
{
	struct procroot_known k = { .pid = pid };

	if (!identify_root(proc, &k) || is_own(&k))
		return true;
	if (!groups_of(rs, proc, &k.groups))
		return false;
	for (size_t i = 0; i < rs->n; i++) {
		const struct procroot_known *o = &rs->items[i];

		if (o->mounts == k.mounts && o->dev == k.dev && o->inode == k.inode && o->groups == k.groups)
			return true;
	}
	if (!grow_array(&rs->items, &rs->cap, rs->n, sizeof(*rs->items)))
		return false;
	rs->items[rs->n++] = k;
	return true;
}

bool procroots_look(struct procroots *rs)
{
	struct dirent *e;
	uint32_t none;
	bool good;
	DIR *d;

	if (rs->looked)
		return true;
	rs->looked = true;
	rs->groups = calloc(1, sizeof(*rs->groups));
	if (!rs->groups)
		return false;
	intern_init(rs->groups);
	good = intern_add(rs->groups, slice_of(""), &none);
	d = opendir("/proc");
	while (good && d && rs->n < ROOTS_MAX && (e = readdir(d))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		char proc[32];

		if (pid <= 0)
			continue;
		snprintf(proc, sizeof(proc), "/proc/%d", pid);
		good = add_root(rs, pid, proc);
	}
	if (d)
		closedir(d);
	return good;
}

bool procroot_known_in(const struct procroots *rs, const struct procroot_known *k, struct slice cgroup,
		       bool exactly)
{
	struct slice name = procroot_container(cgroup), rest = intern_get(rs->groups, k->groups);

	while (name.n && rest.n) { /* "4:memory:/docker/1234…", one for each hierarchy */
		const uint8_t *end = memchr(rest.p, '\n', rest.n), *at;
		struct slice line = { rest.p, end ? (size_t)(end - rest.p) : rest.n }, path;

		rest.p += line.n + (end != NULL);
		rest.n -= line.n + (end != NULL);
		at = memchr(line.p, '/', line.n);
		if (!at)
			continue;
		path = (struct slice){ at, line.n - (size_t)(at - line.p) };
		if (exactly ? slice_equal(cgroup, path) : slice_equal(name, procroot_container(path)))
			return true;
	}
	return false;
}
