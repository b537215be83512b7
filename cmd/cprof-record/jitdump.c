#include "cmd/cprof-record/jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host.h"
#include "cmd/cprof-record/inside.h"
#include "common/stream/record.h"

enum {
	CHUNK = 64 * 1024,
	COMPLAINT_MAX = 2048,
	FILES_LEFT = 64,
	MILLISECOND = 1000000,
	PATH_MOST = 4096,
};

_Static_assert((int)CHUNK >= (int)JITFILE_NEEDS, "a chunk holds what decides about a record");

struct dump {
	uint64_t process_id;
	pid_t pid, nspid; /* as we see it; as the process does */
	bool named;       /* the file's name has that */
	uint64_t dev, inode; /* of the file that is open */
	int fd;           /* -1: it is not believed */
	struct jitfile file;
	uint64_t read;    /* bytes, since it is read from the start */
	uint64_t known;   /* up to there it was delivered before a restart */
	bool resting;     /* since the restart nobody has asked for it */
	bool done;        /* no more is read of it */
	bool caught_up;   /* what comes from now on is new */
	bool late;        /* it was not, when it could be read */
	uint64_t marked;  /* time of the last mark */
};

struct jitdumps {
	struct dump *items;
	size_t n, cap;
	uint64_t repeated;
	int fd_max; /* descriptors from here on are left to others */
	struct buf complaint;
	bool complaint_lent;
	uint8_t bytes[CHUNK];
};

struct jitdumps *jitdumps_new(void)
{
	struct jitdumps *js = calloc(1, sizeof(*js));

	if (js)
		js->fd_max = host_raise_files() - FILES_LEFT;
	return js;
}

static void close_dump(struct dump *d)
{
	if (d->fd >= 0)
		close(d->fd);
}

void jitdumps_free(struct jitdumps *js)
{
	if (!js)
		return;
	for (size_t i = 0; i < js->n; i++)
		close_dump(&js->items[i]);
	free(js->items);
	buf_release(&js->complaint);
	free(js);
}

static void complain(struct jitdumps *js, pid_t pid, const char *why)
{
	if (js->complaint_lent)
		buf_clear(&js->complaint);
	js->complaint_lent = false;
	if (js->complaint.n <= COMPLAINT_MAX)
		buf_printf(&js->complaint, "%sjitdump file of process %d: %s", js->complaint.n ? "; " : "", (int)pid, why);
}

const char *jitdumps_complaint(struct jitdumps *js)
{
	if (js->complaint_lent || js->complaint.n == 0)
		return NULL;
	js->complaint_lent = true;
	return buf_cstr(&js->complaint);
}

/* --- finding it ------------------------------------------------------------------------------ */

/* The part between "jit" and ".dump" of a file's name, as long as that is its form. */
static bool between(struct slice path, struct slice *middle)
{
	static const char before[] = "jit", after[] = ".dump", deleted[] = " (deleted)";
	struct slice name;

	if (path.n > sizeof(deleted) && memcmp(path.p + path.n - (sizeof(deleted) - 1), deleted, sizeof(deleted) - 1) == 0)
		path.n -= sizeof(deleted) - 1;
	name = slice_base(path);
	if (name.n == path.n || !slice_begins(name, before) || name.n < sizeof(before) + sizeof(after) - 1 ||
	    memcmp(name.p + name.n - (sizeof(after) - 1), after, sizeof(after) - 1) != 0)
		return false;
	*middle = (struct slice){ name.p + sizeof(before) - 1, name.n - (sizeof(before) - 1) - (sizeof(after) - 1) };
	return true;
}

/* The number in "…/jit-NUMBER.dump", or 0. */
static uint64_t number_in(struct slice path)
{
	struct slice middle;
	uint64_t number = 0;

	if (!between(path, &middle) || middle.p[0] != '-')
		return 0;
	for (size_t i = 1; i < middle.n; i++) {
		if (middle.p[i] < '0' || middle.p[i] > '9' || number > UINT32_MAX)
			return 0;
		number = number * 10 + (uint64_t)(middle.p[i] - '0');
	}
	return number;
}

bool jitdumps_is(struct slice path)
{
	struct slice middle;

	return between(path, &middle);
}

/* A handle on the file that is mapped there; where that may not be asked, on the one of the path, by its inode. */
static int find_mapped(pid_t pid, const struct jitdump_mapping *m, struct stat *st)
{
	char name[PATH_MOST];
	int root, fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start, m->end);
	fd = open(name, O_PATH | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	if (m->path.n >= sizeof(name) || memchr(m->path.p, 0, m->path.n))
		return -1;
	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	memcpy(name, m->path.p, m->path.n);
	name[m->path.n] = '\0';
	fd = inside_find(root, name + strspn(name, "/"));
	close(root);
	if (fd >= 0 && fstat(fd, st) == 0 && (m->inode == 0 || st->st_ino == m->inode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool find(const struct jitdumps *js, const struct dump *d)
{
	for (size_t i = 0; i < js->n; i++)
		if (js->items[i].process_id == d->process_id && js->items[i].dev == d->dev && js->items[i].inode == d->inode)
			return true;
	return false;
}

static size_t count_of(const struct jitdumps *js, uint64_t process_id)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].process_id == process_id;
	return n;
}

/* Opens what the handle stands for, unless that is not believed. -1: none. */
static int open_handle(struct jitdumps *js, pid_t pid, int handle, const struct stat *st, uid_t uid)
{
	int fd = -1;

	if (!S_ISREG(st->st_mode))
		return -1;
	if (st->st_uid != uid) {
		complain(js, pid, "it belongs to another user and is ignored");
		return -1;
	}
	fd = inside_open(handle);
	if (fd < 0) {
		complain(js, pid, strerror(errno));
	} else if (fd >= js->fd_max) {
		complain(js, pid, "too many open files (ulimit -n)");
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Begins at the start, once more where this is a file that was read before. */
static void begin(struct dump *d)
{
	if (d->file.offset > d->known)
		d->known = d->file.offset;
	d->file = (struct jitfile){ 0 };
	d->read = 0;
	d->resting = d->done = false;
}

/* All that the process has. Who has gone since the restart cannot be asked for anything else. */
static void wake(struct jitdumps *js, uint64_t process_id)
{
	for (size_t i = 0; i < js->n; i++)
		if (js->items[i].process_id == process_id && js->items[i].resting)
			begin(&js->items[i]);
}

bool jitdumps_watch(struct jitdumps *js, uint64_t process_id, pid_t pid, const struct jitdump_mapping *m)
{
	struct dump d = { .process_id = process_id, .pid = pid };
	struct stat st;
	bool good = true;
	uid_t uid;
	int handle;

	wake(js, process_id);
	if (!inside_status(pid, &uid, &d.nspid))
		return true;
	d.named = number_in(m->path) == (uint64_t)d.nspid;
	handle = find_mapped(pid, m, &st);
	if (handle < 0)
		return true;
	d.dev = st.st_dev;
	d.inode = st.st_ino;
	if (!find(js, &d) && count_of(js, process_id) < JITDUMPS_OF_ONE) {
		good = grow_array(&js->items, &js->cap, js->n, sizeof(*js->items));
		d.fd = good ? open_handle(js, pid, handle, &st, uid) : -1;
		if (good)
			js->items[js->n++] = d;
	}
	close(handle);
	return good;
}

/* --- reading --------------------------------------------------------------------------------- */

static void deliver(struct dump *d, struct jitfile_code *code, jitdump_sink *sink, void *arg)
{
	uint64_t now = host_mono_ns();

	if (d->caught_up && !d->file.arch_times && d->file.offset > d->known)
		d->late = code->time + JITDUMP_LATE_MS * (uint64_t)MILLISECOND < now;
	if (d->file.arch_times || code->time > now)
		code->time = now;
	sink(arg, d->process_id, code);
}

static void end(struct jitdumps *js, struct dump *d, const char *why)
{
	d->done = true;
	if (why)
		complain(js, d->pid, why);
}

/* A name without the process's pid may be anyone's: the header must have it. */
static bool is_believed(const struct dump *d)
{
	return d->named || (d->file.begun && d->file.pid == (uint32_t)d->nspid);
}

/* Not a file of this process: no more is read of it. */
static bool give_up(struct dump *d)
{
	close_dump(d);
	d->fd = -1;
	return false;
}

/* Reads and delivers one chunk. False: there is no more at the moment. */
static bool read_chunk(struct jitdumps *js, struct dump *d, jitdump_sink *sink, void *arg)
{
	uint64_t at = d->file.offset;
	ssize_t n = pread(d->fd, js->bytes, CHUNK, (off_t)at);
	struct slice bytes = { js->bytes, n > 0 ? (size_t)n : 0 };
	struct jitfile_code code;
	enum jitfile_got got;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	while ((got = jitfile_next(&d->file, bytes, at, &code)) == JITFILE_CODE) {
		if (!is_believed(d))
			return give_up(d);
		deliver(d, &code, sink, arg);
		if (code.kind == JITCODE_CLOSE)
			end(js, d, NULL);
	}
	if (!is_believed(d) && (got == JITFILE_BAD || d->file.begun))
		return give_up(d);
	if (got == JITFILE_BAD)
		end(js, d, d->file.why);
	d->read += d->file.offset - at < (uint64_t)n ? d->file.offset - at : (uint64_t)n;
	if (at < d->known)
		js->repeated += (uint64_t)n;
	if (d->read >= JITDUMP_FILE_MAX)
		end(js, d, "over 512 MiB, the rest is left out");
	return !d->done && d->file.offset > at;
}

/* 1: there is more. */
static int read_dump(struct jitdumps *js, struct dump *d, uint64_t limit, jitdump_sink *sink, void *arg)
{
	uint64_t until = d->read + limit;
	bool more = d->fd >= 0 && !d->done && !d->resting;

	while (more && d->read < until)
		more = read_chunk(js, d, sink, arg);
	return more;
}

static void mark(struct dump *d, jitdump_sink *sink, void *arg)
{
	struct jitfile_code code = { .time = host_mono_ns(), .kind = JITCODE_MARK };

	if (d->fd < 0 || d->done || d->resting || (d->file.begun && !d->late) ||
	    code.time - d->marked < JITDUMP_MARK_MS * (uint64_t)MILLISECOND)
		return;
	d->marked = code.time;
	sink(arg, d->process_id, &code);
}

int jitdumps_poll(struct jitdumps *js, jitdump_sink *sink, void *arg)
{
	int more = 0;

	for (size_t i = 0; i < js->n; i++) {
		int rest = read_dump(js, &js->items[i], JITDUMP_POLL_MAX, sink, arg);

		js->items[i].caught_up |= !rest;
		mark(&js->items[i], sink, arg);
		more |= rest;
	}
	return more;
}

void jitdumps_forget(struct jitdumps *js, uint64_t process_id)
{
	for (size_t i = js->n; i-- > 0;) {
		if (js->items[i].process_id != process_id)
			continue;
		close_dump(&js->items[i]);
		js->items[i] = js->items[--js->n];
	}
}

void jitdumps_finish(struct jitdumps *js, uint64_t process_id, jitdump_sink *sink, void *arg)
{
	for (size_t i = 0; i < js->n; i++)
		if (js->items[i].process_id == process_id)
			read_dump(js, &js->items[i], JITDUMP_FILE_MAX, sink, arg);
	jitdumps_forget(js, process_id);
}

void jitdumps_restart(struct jitdumps *js)
{
	for (size_t i = 0; i < js->n; i++)
		js->items[i].resting = true;
	js->repeated = 0;
}

uint64_t jitdumps_repeated(const struct jitdumps *js)
{
	return js->repeated;
}

size_t jitdumps_open(const struct jitdumps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].fd >= 0;
	return n;
}
