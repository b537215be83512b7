#include "cmd/cprof-record/jitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/host.h"
#include "cmd/cprof-record/inside.h"
#include "common/base/hash.h"

enum {
	TAIL = 32, /* bytes before our place that are compared, to notice a file that was written anew */
	NAME_ROOM = 64,
	FILES_LEFT = 64, /* for reading /proc, and CPUs that come */
	COMPLAINT_MAX = 2048,
};

#define SECOND UINT64_C(1000000000)
#define FIRST_DELAY (SECOND / 10)
#define LAST_DELAY (16 * SECOND)
#define BUSY_NS (2 * SECOND)
#define QUIET_PERIOD (SECOND - SECOND / 10) /* a caller's "each second" may come a little early */
#define START_SLACK SECOND /* start times are in hundredths, file times in ticks */

/* What has been complained of. */
enum { SAID_SIZE = 1, SAID_OWNER = 2, SAID_OPEN = 4 };

struct watch {
	uint64_t process_id;
	pid_t pid, nspid;
	int fd;   /* -1: no map yet */
	int next; /* a file that has taken this one's place and is read after it; -1: none */
	bool gone, full;
	bool resting; /* since the restart nobody has asked for it */
	unsigned int said;

	/* As it was when the watch began, for a map that it leaves at its exit; known: both are. */
	uid_t uid;
	int64_t start;
	bool is_known;

	/* While there is no map. */
	uint64_t next_try, delay;

	/* The map. */
	uint64_t generation;
	uint64_t offset; /* where the next line begins */
	uint64_t known;  /* up to there it was delivered before a restart */
	uint64_t total;  /* bytes read, all generations */
	uint64_t looked, path_looked, grew; /* times */
	off_t seen_size;
	struct timespec seen_mtime;
	bool more;       /* a limit was reached */
	bool skipping;   /* in a line that is too long */
	uint8_t tail[TAIL];
	size_t tail_n;
};

struct jitmaps {
	struct watch *items;
	size_t n, cap;
	struct idmap index; /* process_id to item */
	uint64_t grew;      /* when a file grew last; 0: never */
	uint64_t repeated;
	int fd_max;         /* descriptors from here on are left to others */
	struct buf complaint;
	bool complaint_lent;
	uint8_t bytes[TAIL + JITMAP_CHUNK];
};

struct jitmaps *jitmaps_new(void)
{
	struct jitmaps *js = calloc(1, sizeof(*js));

	if (!js)
		return NULL;
	idmap_init(&js->index);
	js->fd_max = host_raise_files() - FILES_LEFT;
	return js;
}

static void close_files(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->next >= 0)
		close(w->next);
	w->fd = w->next = -1;
}

void jitmaps_free(struct jitmaps *js)
{
	if (!js)
		return;
	for (size_t i = 0; i < js->n; i++)
		close_files(&js->items[i]);
	free(js->items);
	idmap_release(&js->index);
	buf_release(&js->complaint);
	free(js);
}

static void complain(struct jitmaps *js, struct watch *w, unsigned int what, const char *why)
{
	if (w->said & what)
		return;
	w->said |= what;
	if (js->complaint_lent)
		buf_clear(&js->complaint);
	js->complaint_lent = false;
	if (js->complaint.n > COMPLAINT_MAX) /* nobody may ask for years */
		return;
	buf_printf(&js->complaint, "%sperf map of process %d: %s", js->complaint.n ? "; " : "", (int)w->pid, why);
}

const char *jitmaps_complaint(struct jitmaps *js)
{
	if (js->complaint_lent || js->complaint.n == 0)
		return NULL;
	js->complaint_lent = true;
	return buf_cstr(&js->complaint);
}

/* --- the process ----------------------------------------------------------------------------- */

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

/* When the process began, as a file's time. The 22nd field; the 2nd may hold anything but ends in ')'. */
static bool read_start(pid_t pid, int64_t *start)
{
	struct buf text = { 0 };
	bool ok = inside_proc(pid, "stat", &text);
	const char *p = strrchr(buf_cstr(&text), ')');
	long per_second = sysconf(_SC_CLK_TCK);
	unsigned long long ticks;

	for (int field = 2; ok && p && field < 22; field++)
		p = strchr(p + 1, ' ');
	ok = ok && p && per_second > 0 && sscanf(p, " %llu", &ticks) == 1;
	if (ok)
		*start = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) +
			 (int64_t)(ticks * (SECOND / (uint64_t)per_second));
	buf_release(&text);
	return ok;
}

/* --- finding the file ------------------------------------------------------------------------ */

static int find_file(struct jitmaps *js, struct watch *w)
{
	char name[NAME_ROOM];
	int root, fd = -1;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)w->pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		snprintf(name, sizeof(name), "tmp/perf-%d.map", (int)w->nspid);
		fd = inside_find(root, name);
		close(root);
	} else if (errno == ENOENT || errno == ESRCH) {
		w->gone = true;
		return -1;
	}
	if (fd < 0) {
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)w->pid);
		fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		complain(js, w, SAID_OPEN, "too many open files (ulimit -n)");
	return fd;
}

/* Is this the map of this process, not of another user's making and not one that had the pid before? */
static bool believable(struct jitmaps *js, struct watch *w, const struct stat *st)
{
	int64_t start, written = st->st_mtim.tv_sec * (int64_t)SECOND + st->st_mtim.tv_nsec;
	pid_t nspid;
	uid_t uid;

	if (!S_ISREG(st->st_mode) || !inside_status(w->pid, &uid, &nspid) || !read_start(w->pid, &start))
		return false;
	if (st->st_uid != uid) {
		complain(js, w, SAID_OWNER, "it belongs to another user and is ignored");
		return false;
	}
	return written >= start - (int64_t)START_SLACK;
}

/* Opens the file behind a handle that was found to be a regular file. */
static int open_handle(struct jitmaps *js, struct watch *w, int handle)
{
	int fd = inside_open(handle);

	if (fd < 0) {
		complain(js, w, SAID_OPEN, strerror(errno));
	} else if (fd >= js->fd_max) {
		complain(js, w, SAID_OPEN, "too many open files (ulimit -n)");
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The map at the path now, opened, unless it is the one that is open already; -1: none. */
static int open_map(struct jitmaps *js, struct watch *w)
{
	int handle = find_file(js, w), fd = -1;
	struct stat st, current;

	if (handle < 0)
		return -1;
	if (fstat(handle, &st) != 0 || (w->fd >= 0 && fstat(w->fd, &current) == 0 &&
					current.st_dev == st.st_dev && current.st_ino == st.st_ino))
		;
	else if (believable(js, w, &st))
		fd = open_handle(js, w, handle);
	close(handle);
	return fd;
}

/*
 * The map that a process wrote as its last deed, when it is gone: of its owner's making, and of its time. Where its pid has been
 * given to another process, nobody can tell whose a younger one is.
 */
static int open_left(struct jitmaps *js, struct watch *w)
{
	char name[NAME_ROOM];
	int64_t other, written;
	struct stat st;
	int handle, fd = -1;

	if (!w->is_known)
		return -1;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)w->pid);
	handle = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (handle < 0)
		return -1;
	if (fstat(handle, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == w->uid) {
		written = st.st_mtim.tv_sec * (int64_t)SECOND + st.st_mtim.tv_nsec;
		if (written >= w->start - (int64_t)START_SLACK &&
		    (!read_start(w->pid, &other) || other <= w->start + (int64_t)START_SLACK || written < other))
			fd = open_handle(js, w, handle);
	}
	close(handle);
	return fd;
}

/* --- reading --------------------------------------------------------------------------------- */

static void from_start(struct watch *w)
{
	w->offset = 0;
	w->tail_n = 0;
	w->skipping = false;
	w->more = true;
}

static void new_generation(struct watch *w)
{
	w->generation++;
	w->known = 0;
	from_start(w);
}

static void advance(struct watch *w, const uint8_t *data, size_t n)
{
	size_t keep = n < TAIL ? n : TAIL;
	size_t old = w->tail_n < TAIL - keep ? w->tail_n : TAIL - keep;

	memmove(w->tail, w->tail + w->tail_n - old, old);
	memcpy(w->tail + old, data + n - keep, keep);
	w->tail_n = old + keep;
	w->offset += n;
	w->total += n;
}

/*
 * Reads and delivers one chunk. 1: go on; 0: there is no whole line at the moment. The bytes before
 * our place are read along: a file that was emptied and written anew beyond it shows by them.
 */
static int read_chunk(struct jitmaps *js, struct watch *w, jitmap_sink *chunk, void *arg)
{
	ssize_t got = pread(w->fd, js->bytes, w->tail_n + JITMAP_CHUNK, (off_t)(w->offset - w->tail_n));
	const uint8_t *data = js->bytes + w->tail_n, *last, *from = data;
	size_t n;

	if (got < 0 && errno == EINTR)
		return 1;
	if (got < (ssize_t)w->tail_n || memcmp(js->bytes, w->tail, w->tail_n) != 0) {
		if (got < 0 || w->tail_n == 0)
			return 0;
		new_generation(w);
		return 1;
	}
	n = (size_t)got - w->tail_n;
	last = n ? memrchr(data, '\n', n) : NULL;
	if (!last && n < JITMAP_CHUNK)
		return 0;
	if (!last) {
		w->skipping = true;
		advance(w, data, n);
		return 1;
	}
	n = (size_t)(last + 1 - data);
	if (w->skipping)
		from = (const uint8_t *)memchr(data, '\n', n) + 1;
	w->skipping = false;
	if (w->offset < w->known)
		js->repeated += n;
	if (from <= last)
		chunk(arg, w->process_id, w->generation, from, (size_t)(last + 1 - from));
	advance(w, data, n);
	return 1;
}

/* Reads up to limit bytes of what is open. */
static void read_on(struct jitmaps *js, struct watch *w, uint64_t limit, jitmap_sink *chunk, void *arg)
{
	uint64_t until = w->total + limit;

	w->more = true;
	while (w->more && w->total < until && w->total < JITMAP_PROCESS_MAX)
		if (read_chunk(js, w, chunk, arg) == 0)
			w->more = false;
	if (w->total >= JITMAP_PROCESS_MAX) {
		complain(js, w, SAID_SIZE, "over 256 MiB, the rest is left out");
		w->full = true;
		w->more = false;
	}
}

/* Looks whether another file has come to the path; the one that is open is read to its end first. */
static void look_at_path(struct jitmaps *js, struct watch *w, uint64_t now)
{
	if (w->next >= 0 || w->gone)
		return;
	w->path_looked = now;
	w->next = open_map(js, w);
}

static void take_next(struct watch *w)
{
	close(w->fd);
	w->fd = w->next;
	w->next = -1;
	w->seen_size = -1;
	new_generation(w);
}

static bool has_changed(struct jitmaps *js, struct watch *w, uint64_t now)
{
	struct stat st;

	if (fstat(w->fd, &st) != 0)
		return false;
	if (st.st_size == w->seen_size && st.st_mtim.tv_sec == w->seen_mtime.tv_sec &&
	    st.st_mtim.tv_nsec == w->seen_mtime.tv_nsec)
		return false;
	if (st.st_size >= 0 && (uint64_t)st.st_size < w->offset)
		new_generation(w);
	w->seen_size = st.st_size;
	w->seen_mtime = st.st_mtim;
	w->grew = now;
	js->grew = now;
	return true;
}

/* One file of the process; true where another one waits behind it. */
static bool read_file(struct jitmaps *js, struct watch *w, uint64_t now, uint64_t limit, jitmap_sink *chunk,
		      void *arg)
{
	if (has_changed(js, w, now) || w->more)
		read_on(js, w, limit, chunk, arg);
	if (w->full || w->more || w->next < 0)
		return false;
	take_next(w);
	return true;
}

static bool try_open(struct jitmaps *js, struct watch *w, uint64_t now)
{
	if (w->gone || now < w->next_try)
		return false;
	w->fd = open_map(js, w);
	if (w->fd >= 0) {
		w->path_looked = now;
		w->seen_size = -1;
		return true;
	}
	w->delay = w->delay == 0 ? FIRST_DELAY : w->delay * 2 < LAST_DELAY ? w->delay * 2 : LAST_DELAY;
	w->next_try = now + w->delay;
	return false;
}

static void poll_one(struct jitmaps *js, struct watch *w, uint64_t now, jitmap_sink *chunk, void *arg)
{
	if (w->resting || w->full || (w->fd < 0 && !try_open(js, w, now)))
		return;
	if (!w->more && now - w->grew > BUSY_NS && now - w->looked < QUIET_PERIOD)
		return;
	w->looked = now;
	if (now - w->path_looked >= QUIET_PERIOD)
		look_at_path(js, w, now);
	if (read_file(js, w, now, JITMAP_POLL_MAX, chunk, arg))
		read_file(js, w, now, JITMAP_POLL_MAX, chunk, arg);
}

int jitmaps_poll(struct jitmaps *js, uint64_t now, jitmap_sink *chunk, void *arg)
{
	int more = 0;

	for (size_t i = 0; i < js->n; i++) {
		poll_one(js, &js->items[i], now, chunk, arg);
		more |= js->items[i].more && !js->items[i].resting;
	}
	return more;
}

bool jitmaps_busy(const struct jitmaps *js, uint64_t now)
{
	return js->grew && now - js->grew < BUSY_NS;
}

/* --- the list -------------------------------------------------------------------------------- */

static struct watch *find(struct jitmaps *js, uint64_t process_id)
{
	uint32_t i;

	return idmap_find(&js->index, process_id, &i) ? &js->items[i] : NULL;
}

bool jitmaps_watch(struct jitmaps *js, uint64_t process_id, pid_t pid, pid_t nspid)
{
	struct watch *w = find(js, process_id);
	pid_t own = 0;

	if (w) {
		w->resting = false;
		return true;
	}
	if (!grow_array(&js->items, &js->cap, js->n, sizeof(*js->items)) ||
	    !idmap_set(&js->index, process_id, (uint32_t)js->n))
		return false;
	w = &js->items[js->n++];
	*w = (struct watch){ .process_id = process_id, .pid = pid, .nspid = nspid, .fd = -1, .next = -1 };
	w->is_known = inside_status(pid, &w->uid, &own) && read_start(pid, &w->start);
	if (nspid == 0)
		w->nspid = own;
	w->gone = nspid == 0 && !w->is_known;
	try_open(js, w, host_mono_ns());
	return true;
}

void jitmaps_forget(struct jitmaps *js, uint64_t process_id)
{
	struct watch *w = find(js, process_id), *last;

	if (!w)
		return;
	close_files(w);
	idmap_remove(&js->index, process_id);
	last = &js->items[--js->n];
	if (w == last)
		return;
	*w = *last;
	/* Cannot fail: the key is there, and its place stays. */
	idmap_set(&js->index, w->process_id, (uint32_t)(w - js->items));
}

/* All that is left of a map; one that was not there before may be by now, whenever it was looked for last. */
static void read_last(struct jitmaps *js, struct watch *w, uint64_t now, jitmap_sink *chunk, void *arg)
{
	if (w->full)
		return;
	w->next_try = 0;
	if (w->fd < 0 && !try_open(js, w, now)) {
		w->fd = w->gone ? open_left(js, w) : -1;
		w->seen_size = -1;
	}
	if (w->fd < 0)
		return;
	look_at_path(js, w, now);
	w->more = true;
	if (read_file(js, w, now, JITMAP_PROCESS_MAX, chunk, arg))
		read_file(js, w, now, JITMAP_PROCESS_MAX, chunk, arg);
}

void jitmaps_finish(struct jitmaps *js, uint64_t process_id, uint64_t now, jitmap_sink *chunk, void *arg)
{
	struct watch *w = find(js, process_id);

	if (w)
		read_last(js, w, now, chunk, arg);
	jitmaps_forget(js, process_id);
}

void jitmaps_end(struct jitmaps *js, uint64_t now, jitmap_sink *chunk, void *arg)
{
	for (size_t i = 0; i < js->n; i++) {
		if (!js->items[i].resting)
			read_last(js, &js->items[i], now, chunk, arg);
	}
}

void jitmaps_restart(struct jitmaps *js)
{
	for (size_t i = 0; i < js->n; i++) {
		struct watch *w = &js->items[i];

		w->resting = true;
		if (w->fd < 0)
			continue;
		if (w->offset > w->known)
			w->known = w->offset;
		w->total = 0;
		w->full = false;
		from_start(w);
	}
	js->repeated = 0;
}

uint64_t jitmaps_repeated(const struct jitmaps *js)
{
	return js->repeated;
}

size_t jitmaps_watched(const struct jitmaps *js)
{
	return js->n;
}

size_t jitmaps_open(const struct jitmaps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].fd >= 0;
	return n;
}
