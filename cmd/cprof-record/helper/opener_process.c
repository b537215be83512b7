#include "cmd/cprof-record/helper/opener_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/sandbox.h"
#include "common/foreign/helper.h"
#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/host/priority.h"
#include "common/elf/elffile.h"
#include "common/foreign/foreign.h"

enum {
	COPY_MOST = 128 << 20, /* bytes of a file that is copied, at most */
	PART_MOST = 16 << 20,  /* bytes copied at once of a file that grows */
	NAME_ROOM = 96,
	PLACES = 3, /* number of places to look for a mapped file: see find_handle */
};

struct opening {
	struct opener_process *own;
	int sock;
	bool remote; /* accesses file systems that may not answer, and copies their files */
	const struct opener_process_ask *q;
	char path[OPENER_PROCESS_PATH + 1];
	struct slice build_id;
	struct opener_process_report report;
	bool elsewhere;
	bool announced; /* the recorder may blame a device for this question */
};

void opener_process_release(struct opener_process *o)
{
	mounts_release(&o->mounts);
	*o = (struct opener_process){ 0 };
}

/* Reads device, inode and type of a handle. They are in memory: its file system is not accessed. */
static bool stat_handle(int handle, struct statx *st)
{
	enum { WANTED = STATX_TYPE | STATX_INO | STATX_MNT_ID };

	return statx(handle, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, st) == 0;
}

static int refuse_file(struct opening *o, int handle, enum opener_said said, int error)
{
	o->report.said = said;
	o->report.error = error;
	if (handle >= 0)
		close(handle);
	return -1;
}

static bool is_log(enum opener_want want)
{
	return want == OPENER_PERF_MAP || want == OPENER_LEFT_MAP || want == OPENER_DUMP;
}

static bool is_local(struct opening *o, const struct statx *st)
{
	enum mount_kind kind = mounts_kind(&o->own->mounts, st);

	return kind == MOUNT_LOCAL || (kind == MOUNT_OVERLAY && is_log(o->q->want)) ||
	       (o->q->want != OPENER_LEFT_MAP && mounts_is_local_there(o->q->pid, st));
}

/* Announces an access to the file's device. Returns false if this process must not access it. */
static bool may_touch(struct opening *o, const struct statx *st)
{
	struct opener_process_report r = { .kind = OPENER_PROCESS_TOUCHES, .id = o->q->id, .major = st->stx_dev_major, .minor = st->stx_dev_minor };

	if (is_local(o, st))
		return true;
	if (!o->remote) {
		o->elsewhere = true;
		return false;
	}
	if (silent_devices_has(&o->own->silent, r.major, r.minor, host_mono_ns())) {
		o->report.said = OPENER_SILENT;
		return false;
	}
	o->announced = true;
	return helper_send(o->sock, &r, sizeof(r), -1, 0);
}

/* Opens a handle on a mapped file through its mapping, without a lookup: its path may have changed. */
static int find_mapping(const struct opening *o)
{
	char name[NAME_ROOM];

	if (o->q->end == 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, o->q->pid, o->q->start, o->q->end);
	return open(name, O_PATH | O_CLOEXEC);
}

/* Takes an announcement back: the next lookup may lead to any device. */
static bool touches_nothing(struct opening *o)
{
	struct opener_process_report r = { .kind = OPENER_PROCESS_TOUCHES, .id = o->q->id };

	return !o->announced || helper_send(o->sock, &r, sizeof(r), -1, 0);
}

/*
 * Opens a handle on a path, and announces the device of the last directory before the lookup in it.
 * Directories on the way there are looked up without an announcement, and only once: if a server there does
 * not answer the second time, the last directory's device must not be blamed.
 */
static int find_announced(struct opening *o, int root, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[OPENER_PROCESS_PATH + sizeof("/.")];
	struct statx st;
	int dir, fd = -1;

	if (!touches_nothing(o))
		return -1;
	if (!slash)
		return nsfile_find(root, path);
	snprintf(name, sizeof(name), "%.*s/.", (int)(slash - path), path); /* also if it is a symbolic link */
	dir = nsfile_find(root, name);
	if (dir < 0)
		return -1;
	if (stat_handle(dir, &st) && !may_touch(o, &st))
		errno = EAGAIN;
	else
		fd = nsfile_find(dir, slash + 1);
	close(dir);
	return fd;
}

/*
 * Opens a handle on a path below a root directory: the process's or ours. The local process looks only at
 * names that the kernel has in memory, and leaves all others to the remote process.
 */
static int find_path(struct opening *o, const char *root, const char *path)
{
	int dir, fd;

	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		errno = errno == ENOENT ? ESRCH : errno;
		return -1;
	}
	path += strspn(path, "/");
	if (!o->remote)
		fd = nsfile_find_cached(dir, path);
	else
		fd = find_announced(o, dir, path);
	if (fd < 0 && !o->remote && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		o->elsewhere = true;
	close(dir);
	return fd;
}

static int find_handle(struct opening *o, int place)
{
	char root[NAME_ROOM];

	if (place == 0)
		return find_mapping(o);
	if (!o->path[0])
		return -1;
	if (place == 2) /* the process is gone: try our file of this name, which must be the same one */
		return find_path(o, "/", o->path);
	snprintf(root, sizeof(root), "/proc/%u/root", o->q->pid);
	return find_path(o, root, o->path);
}

static bool is_mapped_one(const struct opener_process_ask *q, const struct statx *st)
{
	return q->inode && st->stx_ino == q->inode && st->stx_dev_major == q->major && st->stx_dev_minor == q->minor;
}

/*
 * The kernel may report only the build ID. A copy of the same build at the same path in another root counts
 * as the same file, too.
 */
static bool is_same_build(const struct opening *o, int fd)
{
	struct buf id = { 0 };
	bool same = o->build_id.n && elf_build_id_fd(fd, &id) && elf_same_build(o->build_id, buf_view(&id));

	buf_release(&id);
	return same;
}

/* Opens the file of a handle and closes the handle. Returns -1 if the file is not the one asked for. */
static int open_handle(struct opening *o, int handle)
{
	enum opener_want want = o->q->want;
	bool by_build = want == OPENER_FILE && o->build_id.n;
	struct statx st;
	int fd;

	if (!stat_handle(handle, &st) || !S_ISREG(st.stx_mode))
		return refuse_file(o, handle, OPENER_NONE, 0);
	if ((want == OPENER_IDENTITY || (want == OPENER_FILE && !by_build)) && !is_mapped_one(o->q, &st))
		return refuse_file(o, handle, OPENER_NONE, 0);
	if (want == OPENER_DUMP && o->q->inode && st.stx_ino != o->q->inode)
		return refuse_file(o, handle, OPENER_NONE, 0);
	if (!may_touch(o, &st)) {
		close(handle);
		return -1;
	}
	fd = foreign_reopen_here(handle);
	if (fd < 0)
		return refuse_file(o, -1, OPENER_NONE, errno);
	if (by_build && !is_mapped_one(o->q, &st) && !is_same_build(o, fd))
		return refuse_file(o, fd, OPENER_NONE, 0);
	return fd;
}

static int find_mapped_file(struct opening *o)
{
	int fd = -1;

	for (int place = 0; place < PLACES && fd < 0 && !o->elsewhere && o->report.said != OPENER_SILENT; place++) {
		int handle = find_handle(o, place);

		if (handle >= 0)
			fd = open_handle(o, handle);
	}
	return fd;
}

static int find_perf_map(struct opening *o)
{
	char root[NAME_ROOM], name[NAME_ROOM];
	int handle = -1;

	o->report.error = ESRCH;
	if (o->q->want == OPENER_PERF_MAP) {
		snprintf(root, sizeof(root), "/proc/%u/root", o->q->pid);
		snprintf(name, sizeof(name), "tmp/perf-%u.map", o->q->nspid);
		handle = find_path(o, root, name);
		o->report.error = handle < 0 && (errno == ESRCH || errno == EMFILE || errno == ENFILE) ? errno : 0;
	}
	if (handle < 0 && !o->elsewhere && (o->q->want == OPENER_LEFT_MAP || o->report.error != ESRCH)) {
		snprintf(name, sizeof(name), "tmp/perf-%u.map", o->q->pid);
		handle = find_path(o, "/", name);
	}
	return handle >= 0 ? open_handle(o, handle) : -1;
}

/*
 * Returns the offset where a copy begins. A perf map that is shorter than its known bytes was rewritten,
 * while a jitdump file without new bytes has just those, or lacks the end of its last record.
 */
static uint64_t copy_from(const struct opening *o, uint64_t size)
{
	if (!is_log(o->q->want))
		return 0;
	if (o->q->from < size)
		return o->q->from;
	return o->q->want == OPENER_DUMP ? size : 0;
}

/* Copies a file into memory, because a later read must not wait for the file's server. */
static int copy_file(struct opening *o, int fd, uint64_t size)
{
	int to = memfd_create("cprof-copy", MFD_CLOEXEC);
	uint64_t done = copy_from(o, size);

	o->report.from = done;
	if (is_log(o->q->want) && size - done > PART_MOST)
		size = done + PART_MOST;
	if (to >= 0 && (lseek(fd, (off_t)done, SEEK_SET) < 0 || lseek(to, (off_t)done, SEEK_SET) < 0))
		size = done;
	while (to >= 0 && done < size) {
		ssize_t n = sendfile(to, fd, NULL, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->report.error = n < 0 ? errno : 0;
			break;
		}
		done += (uint64_t)n;
	}
	o->report.copied = true;
	if (to >= 0 && done < size && o->report.error) {
		close(to);
		return -1;
	}
	return to;
}

/*
 * Returns the owner of a file, by which users take turns. A user's server of FUSE may report any owner, and a
 * user's overlay on top of it repeats that: their files count as those of the process's user.
 */
static uid_t owner_of(struct opening *o, int fd, uid_t reported)
{
	uid_t uid = (uid_t)-1;
	struct statx handle;
	struct statfs fs;
	pid_t nspid;

	if (fstatfs(fd, &fs) == 0 && fs.f_type != FUSE_SUPER_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return reported;
	if (stat_handle(fd, &handle) && mounts_kind(&o->own->mounts, &handle) != MOUNT_UNKNOWN)
		return reported;
	return nsfile_status((pid_t)o->q->pid, &uid, &nspid) ? uid : (uid_t)-1;
}

/*
 * Fills the report. Returns the descriptor to send, or -1. A file that is not passed itself is closed here,
 * because closing may take as long as a read.
 */
static int fill_report(struct opening *o, int fd)
{
	struct opener_process_report *r = &o->report;
	struct buf id = { 0 };
	struct statx handle;
	struct stat st;
	int to = -1;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		r->error = errno;
		close(fd);
		return -1;
	}
	r->dev = st.st_dev;
	r->inode = st.st_ino;
	r->size = (uint64_t)st.st_size;
	r->uid = o->q->want == OPENER_FILE ? owner_of(o, fd, st.st_uid) : st.st_uid;
	r->written = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	r->said = OPENER_OPENED;
	if (o->q->want == OPENER_IDENTITY) {
		if (elf_build_id_fd(fd, &id) && id.n <= sizeof(r->build_id)) {
			memcpy(r->build_id, id.p, id.n);
			r->id_n = (uint32_t)id.n;
		}
		buf_release(&id);
	} else if (stat_handle(fd, &handle) && is_local(o, &handle)) {
		return fd;
	} else if (r->size > COPY_MOST && !is_log(o->q->want)) {
		r->said = OPENER_LARGE;
	} else {
		to = copy_file(o, fd, r->size);
	}
	if (to < 0 && o->q->want != OPENER_IDENTITY && r->said == OPENER_OPENED)
		r->said = OPENER_NONE;
	close(fd);
	return to;
}

static bool answer_question(struct opening *o)
{
	enum opener_want want = o->q->want;
	bool sent;
	int fd;

	o->report = (struct opener_process_report){ .kind = OPENER_PROCESS_ANSWER, .id = o->q->id, .said = OPENER_NONE };
	o->elsewhere = o->announced = false;
	fd = want == OPENER_PERF_MAP || want == OPENER_LEFT_MAP ? find_perf_map(o) : find_mapped_file(o);
	if (fd >= 0)
		fd = fill_report(o, fd);
	if (o->elsewhere)
		o->report.kind = OPENER_PROCESS_ELSEWHERE;
	o->report.cpu_ns = host_cpu_ns();
	sent = helper_send(o->sock, &o->report, sizeof(o->report), fd, 0);
	if (!sent && fd >= 0 && errno == ETOOMANYREFS) {
		o->report.said = OPENER_NONE;
		o->report.error = EMFILE;
		sent = helper_send(o->sock, &o->report, sizeof(o->report), -1, 0);
	}
	if (fd >= 0)
		close(fd);
	return sent;
}

static bool is_whole(const struct opener_process_ask *q, size_t n)
{
	return n >= sizeof(*q) && q->path_n <= OPENER_PROCESS_PATH && q->id_n <= ELF_ID_MAX && n == sizeof(*q) + q->path_n + q->id_n;
}

void opener_process_run(struct opener_process *own, int sock, pid_t parent, bool again, bool remote)
{
	size_t most = sizeof(struct opener_process_ask) + OPENER_PROCESS_PATH + ELF_ID_MAX, n = most;
	struct opener_process_ask *q = malloc(most);
	struct opening o = { .own = own, .sock = SANDBOX_FIRST, .remote = remote, .q = q };
	int none;

	own->mounts.watch = 0; /* the recorder's descriptor, closed below */
	prctl(PR_SET_NAME, remote ? "cprof-remote" : "cprof-opener");
	priority_apart();
	sandbox_signals();
	if (!q || (again && !helper_unmap_shared()) || !sandbox_descriptors(&sock, 1) || !sandbox_parent(parent) ||
	    !sandbox_limit(RLIMIT_CORE, 0, 0))
		_exit(1);
	while (helper_take(o.sock, q, &n, &none, 0) && is_whole(q, n)) {
		memcpy(o.path, q->bytes, q->path_n);
		o.path[q->path_n] = '\0';
		if (memchr(o.path, 0, q->path_n))
			o.path[0] = '\0';
		o.build_id = (struct slice){ q->bytes + q->path_n, q->id_n };
		if (!answer_question(&o))
			break;
		n = most;
	}
	_exit(0);
}
