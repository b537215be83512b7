#include "cmd/cprof-record/process/jit_dumps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/silent_devices.h"
#include "common/base/array.h"
#include "common/stream/record.h"

enum {
	CHUNK = 64 * 1024,
	COMPLAINT_MAX = 2048,
	FILES_LEFT = 64,
	CODE_BYTES = 32, /* size of a piece of code in a capture, without its name */
	MILLISECOND = 1000000,
	COPY_PERIOD = 900 * MILLISECOND, /* between questions for one file */
	LOOK_FEW = 100,  /* with so few files, a user's are read at each drain; of more, each after a pause: */
	LOOK_PAUSE = MILLISECOND / 10, /* for each of them; one takes 2 µs */
	PATH_MOST = 4096,
};

_Static_assert((int)CHUNK >= (int)JITFILE_NEEDS, "a chunk holds what decides about a record");

struct dump {
	uint64_t process_id;
	pid_t pid, nspid; /* as we see it, as the process sees it */
	bool named;       /* the file's name has nspid */
	uint64_t dev, inode; /* the open file's */
	int fd;           /* -1: not open yet, or not trusted */
	uid_t uid;        /* the process's effective user */
	uint64_t peers;   /* files of this user that are watched, this one with them */
	uint64_t looked;  /* when it was read last; 0: it has more */
	struct slice path; /* the mapping's path; owned */
	uint64_t start, end, mapped_inode;
	uint32_t question; /* id of the pending question to the opener; 0: none */
	struct jit_copy copy;
	uint64_t whole;   /* size of the file, if its last copy lacks the end, or had no room; otherwise 0 */
	uint64_t asked;   /* time of the last question */
	bool wanted;      /* no answer yet says whether there is a file: it is to be asked for again */
	uint64_t rest;    /* no answer, or no room for a copy: ns until the next question; 0: neither */
	struct jitfile file;
	uint64_t read;    /* bytes read since the last start from the beginning */
	uint64_t known;   /* offset up to which it was delivered before a restart */
	bool resting;     /* not watched again since the restart */
	bool done;        /* the file is not read any further */
	bool held, said_budget; /* the budget is used up */
	bool said_copy; /* there was no room for a copy */
	bool said_many; /* the process has mapped more files than are read */
	uint64_t delivered; /* bytes, by their size in a capture */
	bool caught_up;   /* all older records have been read */
	bool late;        /* the last record was already old when it could be read */
	uint64_t marked;  /* time of the last mark */
};

struct jit_dumps {
	struct dump *items;
	size_t n, cap;
	uint64_t repeated;
	struct opener *opener;
	struct jit_budget *budget;
	uint64_t left_out;
	uint32_t questions;
	int fd_max; /* descriptors from this number on are for other uses */
	struct buf complaint;
	bool complaint_lent, ends;
	jitdump_unwinder *unwinder; /* NULL: nobody needs unwind information */
	void *unwinder_arg;
	uint8_t eh_frame[JITDUMP_EH_FRAME_MAX];
	uint8_t bytes[CHUNK];
};

struct jit_dumps *jit_dumps_new(struct opener *o, struct jit_budget *budget)
{
	struct jit_dumps *js = calloc(1, sizeof(*js));

	if (!js)
		return NULL;
	js->opener = o;
	js->budget = budget;
	js->fd_max = host_raise_files() - FILES_LEFT;
	return js;
}

void jit_dumps_unwind_by(struct jit_dumps *js, jitdump_unwinder *unwinder, void *arg)
{
	js->unwinder = unwinder;
	js->unwinder_arg = arg;
}

static void close_dump(struct jit_dumps *js, struct dump *d)
{
	jit_budget_let_go(js->budget, d->fd, &d->copy);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static void release_dump(struct jit_dumps *js, struct dump *d)
{
	close_dump(js, d);
	free((void *)(uintptr_t)d->path.p);
}

void jit_dumps_free(struct jit_dumps *js)
{
	if (!js)
		return;
	for (size_t i = 0; i < js->n; i++)
		release_dump(js, &js->items[i]);
	free(js->items);
	buf_release(&js->complaint);
	free(js);
}

static void complain_of_dump(struct jit_dumps *js, pid_t pid, const char *why)
{
	if (js->complaint_lent)
		buf_clear(&js->complaint);
	js->complaint_lent = false;
	if (js->complaint.n <= COMPLAINT_MAX)
		buf_printf(&js->complaint, "%sjitdump file of process %d: %s", js->complaint.n ? "; " : "", (int)pid, why);
}

const char *jit_dumps_complaint(struct jit_dumps *js)
{
	if (js->complaint_lent || js->complaint.n == 0)
		return NULL;
	js->complaint_lent = true;
	return buf_cstr(&js->complaint);
}

/* --- finding it ------------------------------------------------------------------------------ */

/* Finds the part between "jit" and ".dump" of a file's name. Returns false for other names. */
static bool find_middle(struct slice path, struct slice *middle)
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

/* Returns the number in "…/jit-NUMBER.dump", or 0. */
static uint64_t number_in(struct slice path)
{
	struct slice middle;
	uint64_t number = 0;

	if (!find_middle(path, &middle) || middle.p[0] != '-')
		return 0;
	for (size_t i = 1; i < middle.n; i++) {
		if (middle.p[i] < '0' || middle.p[i] > '9' || number > UINT32_MAX)
			return 0;
		number = number * 10 + (uint64_t)(middle.p[i] - '0');
	}
	return number;
}

bool jit_dumps_is(struct slice path)
{
	struct slice middle;

	return find_middle(path, &middle);
}

/* Returns true if the mapping's file is already among the dumps. */
static bool is_mapped(const struct jit_dumps *js, uint64_t process_id, const struct jitdump_mapping *m)
{
	for (size_t i = 0; i < js->n; i++) {
		const struct dump *d = &js->items[i];

		if (d->process_id == process_id && d->mapped_inode == m->inode && slice_equal(d->path, m->path) &&
		    (m->inode || d->start == m->start))
			return true;
	}
	return false;
}

static bool is_twice(const struct jit_dumps *js, const struct dump *d, const struct opener_answer *a)
{
	for (size_t i = 0; i < js->n; i++) {
		const struct dump *o = &js->items[i];

		if (o != d && o->process_id == d->process_id && o->inode && o->dev == a->dev && o->inode == a->inode)
			return true;
	}
	return false;
}

/* Returns true, and says so once, if the process has as many files as are read. */
static bool has_too_many(struct jit_dumps *js, uint64_t process_id)
{
	struct dump *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++) {
		if (js->items[i].process_id != process_id)
			continue;
		last = last && last->said_many ? last : &js->items[i];
		n++;
	}
	if (n < JIT_DUMPS_OF_ONE)
		return false;
	if (!last->said_many)
		complain_of_dump(js, last->pid, "one of more than 8 such files: the others are left out");
	last->said_many = true;
	return true;
}

/* Counts the files of a user again. */
static void count_peers(struct jit_dumps *js, uid_t uid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].uid == uid;
	for (size_t i = 0; i < js->n; i++)
		if (js->items[i].uid == uid)
			js->items[i].peers = n;
}

/* Restarts at the beginning of the file, also if the file was read before. */
static void rewind_dump(struct dump *d)
{
	if (d->file.offset > d->known)
		d->known = d->file.offset;
	d->file = (struct jitfile){ 0 };
	d->read = 0;
	d->resting = d->done = false;
}

/* Wakes all files of the process. If it has gone since the restart, its other files cannot be found again. */
static void wake_dumps(struct jit_dumps *js, uint64_t process_id)
{
	for (size_t i = 0; i < js->n; i++)
		if (js->items[i].process_id == process_id && js->items[i].resting)
			rewind_dump(&js->items[i]);
}

/* The question carries the process_id, because indexes change; the mapping tells which file is meant. */
static void ask_for_dump(struct jit_dumps *js, struct dump *d)
{
	struct opener_question q = { .want = OPENER_DUMP, .id = js->questions + 1, .place = d->process_id, .pid = (uint32_t)d->pid,
				     .start = d->start, .end = d->end, .inode = d->mapped_inode, .path = d->path,
				     .from = d->file.offset };

	d->asked = host_mono_ns();
	if (d->question == 0 && opener_ask(js->opener, &q))
		d->question = ++js->questions;
}

/* Asks for a file that is not open yet, or for a newer copy, if it is time. */
static void ask_again(struct jit_dumps *js, struct dump *d)
{
	uint64_t pause = d->rest ? d->rest : COPY_PERIOD;
	bool due = d->fd < 0 ? d->wanted : d->copy.is && !d->done;

	if (due && !d->resting && host_mono_ns() - d->asked > pause)
		ask_for_dump(js, d);
}

bool jit_dumps_watch(struct jit_dumps *js, uint64_t process_id, pid_t pid, const struct jitdump_mapping *m)
{
	struct dump d = { .process_id = process_id, .pid = pid, .fd = -1, .start = m->start, .end = m->end, .mapped_inode = m->inode };
	uint8_t *path;

	wake_dumps(js, process_id);
	if (m->path.n == 0 || m->path.n >= PATH_MOST || is_mapped(js, process_id, m) ||
	    has_too_many(js, process_id) || !nsfile_status(pid, &d.uid, &d.nspid))
		return true;
	d.named = number_in(m->path) == (uint64_t)d.nspid;
	path = malloc(m->path.n);
	if (!path || !grow_array(&js->items, &js->cap, js->n, sizeof(*js->items))) {
		free(path);
		return false;
	}
	memcpy(path, m->path.p, m->path.n);
	d.wanted = true;
	d.path = (struct slice){ path, m->path.n };
	js->items[js->n++] = d;
	count_peers(js, d.uid);
	ask_for_dump(js, &js->items[js->n - 1]);
	return true;
}

static void remove_at(struct jit_dumps *js, size_t i)
{
	uid_t uid = js->items[i].uid;

	release_dump(js, &js->items[i]);
	js->items[i] = js->items[--js->n];
	count_peers(js, uid);
}

/* Accounts for the answer's copy, if it is one. Returns false if there is no room for it, or no use. */
static bool hold_copy(struct jit_dumps *js, struct dump *d, const struct opener_answer *a, struct jit_copy *c)
{
	if (!a->copied || d->done || (d->resting && a->from))
		return !a->copied;
	if (jit_budget_hold(js->budget, d->uid, a->fd, a->size, c)) {
		d->whole = c->whole;
		return true;
	}
	if (!d->said_copy)
		complain_of_dump(js, d->pid, JIT_BUDGET_NO_COPY);
	d->said_copy = true;
	d->whole = a->size;
	d->rest = silent_devices_longer(0);
	d->wanted = true;
	return false;
}

/* Returns true if the descriptor is kept. A file that has replaced the open one is not the process's. */
static bool take_file(struct jit_dumps *js, struct dump *d, const struct opener_answer *a)
{
	struct jit_copy copy = { .is = a->copied, .from = a->from };

	if (d->inode && (d->inode != a->inode || d->dev != a->dev || !a->copied))
		return false;
	if (a->uid != d->uid)
		complain_of_dump(js, d->pid, "it belongs to another user and is ignored");
	else if (a->fd >= js->fd_max)
		complain_of_dump(js, d->pid, "too many open files (ulimit -n)");
	if (a->uid != d->uid || a->fd >= js->fd_max || !hold_copy(js, d, a, &copy))
		return false;
	close_dump(js, d);
	d->fd = a->fd;
	d->dev = a->dev;
	d->inode = a->inode;
	d->copy = copy;
	return true;
}

/* Returns true for an answer that leaves open whether there is a file. */
static bool put_off(struct jit_dumps *js, struct dump *d, const struct opener_answer *a)
{
	bool silent = a->said == OPENER_SILENT;

	if (silent && !d->rest)
		complain_of_dump(js, d->pid, "its file system does not answer");
	d->rest = silent ? silent_devices_longer(d->rest) : 0;
	return silent || a->said == OPENER_LATER;
}

void jit_dumps_opened(struct jit_dumps *js, const struct opener_answer *a)
{
	bool taken = false;
	size_t i = 0;

	while (i < js->n && (js->items[i].process_id != a->place || js->items[i].question != a->id))
		i++;
	if (i < js->n) {
		js->items[i].question = 0;
		js->items[i].wanted = put_off(js, &js->items[i], a);
		if (a->fd < 0 && a->error)
			complain_of_dump(js, js->items[i].pid, strerror(a->error));
		if (a->fd >= 0 && !is_twice(js, &js->items[i], a))
			taken = take_file(js, &js->items[i], a);
		else if (a->fd >= 0 || (!js->items[i].wanted && js->items[i].fd < 0))
			remove_at(js, i);
	}
	if (a->fd >= 0 && !taken)
		close(a->fd);
}

size_t jit_dumps_asked(const struct jit_dumps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].question != 0;
	return n;
}

/* --- reading --------------------------------------------------------------------------------- */

static void deliver_code(struct dump *d, struct jitfile_code *code, jitdump_sink *sink, void *arg)
{
	uint64_t now = host_mono_ns();

	if (d->caught_up && !d->file.arch_times && d->file.offset > d->known)
		d->late = code->time + JITDUMP_LATE_MS * (uint64_t)MILLISECOND < now;
	if (d->file.arch_times || code->time > now)
		code->time = now;
	sink(arg, d->process_id, code);
}

/* A part of the file that was read last. */
struct chunk {
	struct slice bytes;
	uint64_t at; /* file offset */
};

/* Returns the part's bytes: from the chunk, or else from the file. */
static struct slice read_part(struct jit_dumps *js, const struct dump *d, const struct chunk *c,
			      struct jitfile_part part)
{
	ssize_t n;

	if (part.n == 0 || part.n > sizeof(js->eh_frame))
		return (struct slice){ NULL, 0 };
	if (part.at >= c->at && part.at - c->at <= c->bytes.n && part.n <= c->bytes.n - (part.at - c->at))
		return (struct slice){ c->bytes.p + (part.at - c->at), part.n };
	n = pread(d->fd, js->eh_frame, part.n, (off_t)part.at);
	return (struct slice){ js->eh_frame, n == (ssize_t)part.n ? part.n : 0 };
}

static void deliver_unwinding(struct jit_dumps *js, const struct dump *d, const struct chunk *c,
			      const struct jitfile_code *code)
{
	struct slice eh_frame;

	if (!js->unwinder || d->file.offset <= d->known ||
	    (code->kind != JITCODE_LOAD && code->kind != JITCODE_MOVE))
		return;
	eh_frame = read_part(js, d, c, code->unwinding);
	js->unwinder(js->unwinder_arg, d->process_id, d->uid, code, eh_frame);
}

static void end_dump(struct jit_dumps *js, struct dump *d, const char *why)
{
	d->done = true;
	if (why)
		complain_of_dump(js, d->pid, why);
}

/* A file whose name lacks the process's pid may be of any process: its header must have the pid. */
static bool is_believed(const struct dump *d)
{
	return d->named || (d->file.begun && d->file.pid == (uint32_t)d->nspid);
}

/* Stops reading a file that is not of this process. */
static bool give_up(struct jit_dumps *js, struct dump *d)
{
	close_dump(js, d);
	return false;
}

/* Reads and delivers one chunk. Returns false if there is no more at the moment. */
static bool read_chunk(struct jit_dumps *js, struct dump *d, jitdump_sink *sink, void *arg)
{
	uint64_t at = d->file.offset;
	ssize_t n = d->copy.is && at < d->copy.from ? 0 : pread(d->fd, js->bytes, CHUNK, (off_t)at);
	struct slice bytes = { js->bytes, n > 0 ? (size_t)n : 0 };
	struct jitfile_code code;
	enum jitfile_got got;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	while ((got = jitfile_next(&d->file, bytes, at, &code)) == JITFILE_CODE) {
		if (!is_believed(d))
			return give_up(js, d);
		deliver_code(d, &code, sink, arg);
		deliver_unwinding(js, d, &(struct chunk){ bytes, at }, &code);
		d->delivered += code.name.n + CODE_BYTES;
		if (code.kind == JITCODE_CLOSE)
			end_dump(js, d, NULL);
	}
	if (!is_believed(d) && (got == JITFILE_BAD || d->file.begun))
		return give_up(js, d);
	if (got == JITFILE_BAD)
		end_dump(js, d, d->file.why);
	d->read += d->file.offset - at < (uint64_t)n ? d->file.offset - at : (uint64_t)n;
	if (at < d->known)
		js->repeated += (uint64_t)n;
	if (d->read >= JITDUMP_FILE_MAX)
		end_dump(js, d, "over 512 MiB, the rest is left out");
	return !d->done && d->file.offset > at;
}

/* Returns 1 if there is more. */
static int read_dump(struct jit_dumps *js, struct dump *d, uint64_t limit, jitdump_sink *sink, void *arg)
{
	uint64_t until = d->read + limit, before = d->delivered;
	uint64_t left = jit_budget_left(js->budget, d->uid, host_mono_ns());
	bool more = d->fd >= 0 && !d->done && !d->resting;

	while (more && d->read < until && d->delivered - before < left)
		more = read_chunk(js, d, sink, arg);
	jit_budget_take(js->budget, d->uid, d->delivered - before);
	d->held = more && d->delivered - before >= left;
	if (d->held && !d->said_budget)
		complain_of_dump(js, d->pid, "its user writes more than 2 MiB of names a second: the rest is read later, or left out");
	d->said_budget |= d->held;
	more &= !d->held;
	if (!more && !d->held) { /* a copy has nothing more */
		jit_budget_let_go(js->budget, d->fd, &d->copy);
		ask_again(js, d);
	}
	return more;
}

static void deliver_mark(struct dump *d, jitdump_sink *sink, void *arg)
{
	struct jitfile_code code = { .time = host_mono_ns(), .kind = JITCODE_MARK };

	if (d->fd < 0 || d->done || d->resting || (d->file.begun && !d->late) ||
	    code.time - d->marked < JITDUMP_MARK_MS * (uint64_t)MILLISECOND)
		return;
	d->marked = code.time;
	sink(arg, d->process_id, &code);
}

int jit_dumps_poll(struct jit_dumps *js, jitdump_sink *sink, void *arg)
{
	uint64_t now = host_mono_ns();
	int more = 0;

	for (size_t i = 0; i < js->n; i++) {
		struct dump *d = &js->items[i];
		int rest;

		if (!js->ends && d->peers > LOOK_FEW && now - d->looked < d->peers * LOOK_PAUSE)
			continue;
		rest = read_dump(js, d, JITDUMP_POLL_MAX, sink, arg);
		d->looked = rest ? 0 : now;
		d->caught_up |= !rest && !d->held;
		deliver_mark(d, sink, arg);
		more |= rest;
	}
	return more;
}

void jit_dumps_ends(struct jit_dumps *js)
{
	js->ends = true;
}

void jit_dumps_forget(struct jit_dumps *js, uint64_t process_id)
{
	for (size_t i = js->n; i-- > 0;) {
		if (js->items[i].process_id != process_id)
			continue;
		remove_at(js, i);
	}
}

/* Returns the bytes of a file that are not read: the budget is used up, or a copy lacks them. */
static uint64_t bytes_left(const struct dump *d)
{
	uint64_t size = d->done ? 0 : d->whole;
	struct stat st;

	if (d->held && fstat(d->fd, &st) == 0 && (uint64_t)st.st_size > size)
		size = (uint64_t)st.st_size;
	return size > d->file.offset ? size - d->file.offset : 0;
}

void jit_dumps_finish(struct jit_dumps *js, uint64_t process_id, jitdump_sink *sink, void *arg)
{
	for (size_t i = 0; i < js->n; i++) {
		if (js->items[i].process_id != process_id)
			continue;
		read_dump(js, &js->items[i], JITDUMP_FILE_MAX, sink, arg);
		js->left_out += bytes_left(&js->items[i]);
	}
	jit_dumps_forget(js, process_id);
}

uint64_t jit_dumps_left_out(const struct jit_dumps *js)
{
	return js->left_out;
}

void jit_dumps_restart(struct jit_dumps *js)
{
	for (size_t i = 0; i < js->n; i++)
		js->items[i].resting = true;
	js->repeated = 0;
}

uint64_t jit_dumps_repeated(const struct jit_dumps *js)
{
	return js->repeated;
}

size_t jit_dumps_open(const struct jit_dumps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].fd >= 0;
	return n;
}
