#include "cmd/cprof-record/output/rotate_process.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum rotate_call {
	CALL_ADOPT, CALL_OPEN, CALL_WRITE, CALL_RESERVE, CALL_CLOSE,
	CALL_PART, /* a part of the flight buffer, by its descriptor; it has no answer */
	CALL_COPY, /* writes all parts to a file of their own */
};

struct question {
	enum rotate_call call;
	bool full;
	uint64_t bytes;
	uint8_t data[OUTPUT_PROCESS_PIECE];
};

enum { QUESTION_HEAD = offsetof(struct question, data), PROGRESS_NS = 100000000 };

/* --- the process ------------------------------------------------------------------------------ */

struct served {
	struct rotate *f;
	int sock;
	struct flight_buffer parts;
	uint64_t answered; /* when */
};

static int open_dir(const struct output_work *w, uint64_t *done)
{
	struct rotate *f = &((struct rotate_process *)w->arg)->rotate;
	struct buf error = { 0 };

	if (f->pattern.dir)
		return rotate_open_dir(f);
	*done = file_name_look(w->path);
	if (!file_name_init(&f->pattern, w->path, (enum file_name_at)*done, &error)) {
		errno = error.n ? EINVAL : ENOMEM;
		return -1;
	}
	return rotate_open_dir(f);
}

static void send_progress(void *arg)
{
	static const struct output_answer a = { .more = true };
	struct served *s = arg;
	uint64_t now = helper_mono_ns();

	if (now - s->answered < PROGRESS_NS)
		return;
	output_process_answer(s->sock, &a);
	s->answered = now;
}

static void send_name(void *arg, const char *path)
{
	struct served *s = arg;
	struct output_answer a = { .more = true };

	snprintf(a.path, sizeof(a.path), "%s", path);
	output_process_answer(s->sock, &a);
}

/* Closes the file if there is one. Returns 0 or an error. */
static int close_file(struct rotate *f, uint64_t bytes, void (*named)(void *arg, const char *path), void *arg)
{
	struct buf path = { 0 };
	int error = 0;

	if (f->fd >= 0 && !rotate_close(f, bytes, &path))
		error = errno ? errno : EIO;
	if (path.n)
		named(arg, buf_cstr(&path));
	buf_release(&path);
	if (bytes)
		rotate_keep(f);
	return error;
}

static int copy_to_file(struct rotate *f, const struct flight_buffer *m, uint64_t *bytes,
			void (*named)(void *arg, const char *path), void *arg)
{
	int error, close_error;

	if (rotate_open(f) < 0)
		return errno;
	error = flight_buffer_copy(m, f->fd, bytes) ? 0 : errno;
	close_error = close_file(f, error ? 0 : *bytes, named, arg);
	return error ? error : close_error;
}

static bool reserve(struct rotate *f, uint64_t bytes, bool full)
{
	rotate_wrote(f, bytes, full);
	return !full && rotate_reserve(f);
}

static int open_file(struct rotate *f)
{
	if (f->fd >= 0) /* nobody waited for it any more */
		rotate_close(f, 0, NULL);
	rotate_follow_dir(f);
	return rotate_open(f) < 0 ? errno : 0;
}

static struct output_answer make_call(struct served *s, const struct question *q, size_t n)
{
	struct output_answer a = { 0 };
	struct rotate *f = s->f;
	ssize_t done;

	switch (q->call) {
	case CALL_ADOPT:
		f->unnamed = false;
		rotate_adopt(f, send_name, s);
		break;
	case CALL_OPEN:
		a.error = open_file(f);
		break;
	case CALL_WRITE:
		done = write(f->fd, q->data, n - QUESTION_HEAD);
		a.error = done < 0 ? errno : 0;
		a.done = done > 0 ? (uint64_t)done : 0;
		break;
	case CALL_RESERVE:
		a.done = reserve(f, q->bytes, q->full);
		break;
	case CALL_CLOSE:
		a.error = close_file(f, q->bytes, send_name, s);
		break;
	case CALL_COPY:
		rotate_follow_dir(f);
		a.error = copy_to_file(f, &s->parts, &a.done, send_name, s);
		flight_buffer_release(&s->parts);
		break;
	case CALL_PART:
		break;
	}
	a.removed = f->removed;
	a.unnamed = f->unnamed;
	return a;
}

static bool take_part(struct served *s, int fd)
{
	if (s->parts.n == sizeof(s->parts.parts) / sizeof(*s->parts.parts) || fd < 0)
		return false;
	s->parts.parts[s->parts.n++].fd = fd;
	return true;
}

static void serve(const struct output_work *w, int sock, int fd)
{
	static struct served s;
	static struct question q;
	size_t n = sizeof(q);
	int part;

	s = (struct served){
		.f = &((struct rotate_process *)w->arg)->rotate, .sock = sock,
		.parts = { .most_bytes = UINT64_MAX, .progress = send_progress, .progress_arg = &s },
	};
	s.f->dir = fd;
	s.f->progress = send_progress;
	s.f->progress_arg = &s;
	while (helper_take(sock, &q, &n, &part, 0) && n >= QUESTION_HEAD) {
		if (q.call != CALL_PART) {
			struct output_answer a = make_call(&s, &q, n);

			if (!output_process_answer(sock, &a))
				break;
		} else if (!take_part(&s, part)) {
			break;
		}
		n = sizeof(q);
	}
}

/* --- the recorder's side ---------------------------------------------------------------------- */

static void end_copy(struct rotate_process *p, int error, uint64_t bytes)
{
	p->copy.ended = true;
	p->copy.asked = false;
	p->copy.error = error;
	p->copy.bytes = bytes;
}

/* The files of a process that was lost can be adopted: nobody has them locked any more. */
static bool lose_files(struct rotate_process *p)
{
	p->opening = p->closes = false;
	p->rotate.unnamed = true;
	if (p->copy.asked)
		end_copy(p, ECONNRESET, 0);
	errno = ECONNRESET;
	return false;
}

/* If the directory cannot be opened again, the open one stays. */
static bool take_directory(struct rotate_process *p, const struct output_answer *a, int fd)
{
	p->opening = false;
	if (a->error || (!a->stays && fd < 0)) {
		output_process_end(&p->process);
		p->remote = p->rotate.dir < 0;
		errno = a->error ? a->error : EMFILE; /* no number was left for the descriptor */
		return !p->remote;
	}
	if (p->rotate.dir >= 0)
		close(p->rotate.dir);
	p->rotate.dir = fd;
	p->remote = a->stays;
	if (!p->remote)
		output_process_end(&p->process);
	return true;
}

/* Takes answers up to the last one, and waits for each. False: errno. */
static bool take_answers(struct rotate_process *p, struct output_answer *a, int ms)
{
	int fd;

	do {
		if (!output_process_take(&p->process, a, &fd, ms))
			return errno == ECONNRESET ? lose_files(p) : false;
		if (p->opening)
			return take_directory(p, a, fd);
		if (a->path[0])
			p->named(p->arg, a->path);
	} while (a->more);
	p->rotate.removed = a->removed;
	p->rotate.unnamed = a->unnamed;
	if (p->copy.asked)
		end_copy(p, a->error, a->done);
	errno = a->error;
	return a->error == 0;
}

static bool begin_process(struct rotate_process *p)
{
	struct output_work w = { p->path, open_dir, serve, p };

	p->opening = output_process_begin(&p->process, &w);
	return p->opening;
}

bool rotate_process_init(struct rotate_process *p, const char *path, const char *(*wait)(void *arg, int fd),
			 void *wait_arg, struct buf *error, bool *usage)
{
	struct output_answer a = { 0 };
	const char *why = NULL;
	bool good;
	int code;

	p->process = (struct output_process)OUTPUT_PROCESS_NONE;
	p->path = path;
	rotate_init(&p->rotate);
	good = begin_process(p) && !(why = wait(wait_arg, p->process.h.sock)) && take_answers(p, &a, 0);
	code = errno;
	*usage = !why && !file_name_init(&p->rotate.pattern, path, (enum file_name_at)a.done, error);
	if (why)
		buf_printf(error, "%s: cannot open: %s", path, why);
	else if (!*usage && !good) /* without the right to look, the last part may be a directory, too */
		buf_printf(error, "%s: %s", code == EACCES ? path : p->rotate.pattern.dir,
			   output_process_error(code));
	return good && !*usage;
}

void rotate_process_release(struct rotate_process *p)
{
	output_process_end(&p->process);
	rotate_release(&p->rotate);
}

bool rotate_process_is_ready(struct rotate_process *p)
{
	struct output_answer a;

	while (p->process.busy && (take_answers(p, &a, 0) || errno != ETIMEDOUT))
		;
	if (p->process.busy)
		errno = ETIMEDOUT;
	return !p->process.busy;
}

static bool ask(struct rotate_process *p, const struct question *q, size_t n, struct output_answer *a)
{
	if (!rotate_process_is_ready(p))
		return false;
	if (!output_process_ask(&p->process, q, QUESTION_HEAD + n, -1))
		return lose_files(p);
	return take_answers(p, a, OUTPUT_PROCESS_MS);
}

static bool ask_call(struct rotate_process *p, enum rotate_call call, uint64_t bytes)
{
	static struct question q;
	struct output_answer a;

	q.call = call;
	q.bytes = bytes;
	return ask(p, &q, 0, &a);
}

static void count_name(void *arg, const char *path)
{
	struct rotate_process *p = arg;

	p->named(p->arg, path);
}

bool rotate_process_adopt(struct rotate_process *p)
{
	if (p->remote)
		return ask_call(p, CALL_ADOPT, 0);
	p->rotate.unnamed = false;
	rotate_adopt(&p->rotate, count_name, p);
	return true;
}

/* Lets a process open the directory again if it was lost, or may be another one at its path by now. */
static bool look_again(struct rotate_process *p)
{
	struct output_answer a;

	if (p->remote ? p->process.h.sock >= 0 : rotate_dir_is_same(&p->rotate))
		return true;
	if (!helper_may_begin(&p->process.h)) {
		errno = ECONNRESET;
		return !p->remote;
	}
	return begin_process(p) ? take_answers(p, &a, OUTPUT_PROCESS_MS) : !p->remote;
}

static bool prepare_dir(struct rotate_process *p)
{
	if (!rotate_process_is_ready(p) || !look_again(p))
		return false;
	return !p->closes || rotate_process_close(p, p->close_bytes);
}

bool rotate_process_open(struct rotate_process *p)
{
	if (!prepare_dir(p))
		return false;
	return p->remote ? ask_call(p, CALL_OPEN, 0) : rotate_open(&p->rotate) >= 0;
}

bool rotate_process_reserve(struct rotate_process *p, uint64_t bytes, bool full)
{
	static struct question q = { .call = CALL_RESERVE };
	struct output_answer a;

	if (p->remote) {
		q.bytes = bytes;
		q.full = full;
		return ask(p, &q, 0, &a) && a.done;
	}
	return reserve(&p->rotate, bytes, full);
}

bool rotate_process_close(struct rotate_process *p, uint64_t bytes)
{
	if (!p->remote) {
		errno = close_file(&p->rotate, bytes, count_name, p);
		return errno == 0;
	}
	p->closes = !rotate_process_is_ready(p);
	p->close_bytes = bytes;
	return !p->closes && ask_call(p, CALL_CLOSE, bytes);
}

bool rotate_process_finish(struct rotate_process *p)
{
	int ms = output_process_is_silent(&p->process) ? 0 : OUTPUT_PROCESS_MS;
	struct output_answer a;

	while (p->process.busy && (take_answers(p, &a, ms) || errno != ETIMEDOUT))
		;
	if (!p->process.busy && p->closes)
		rotate_process_close(p, p->close_bytes);
	return !p->process.busy;
}

ssize_t rotate_process_write(struct rotate_process *p, const void *bytes, size_t n)
{
	static struct question q = { .call = CALL_WRITE };
	struct output_answer a;

	if (!p->remote)
		return write(p->rotate.fd, bytes, n);
	if (n > OUTPUT_PROCESS_PIECE)
		n = OUTPUT_PROCESS_PIECE;
	memcpy(q.data, bytes, n);
	return ask(p, &q, n, &a) ? (ssize_t)a.done : -1;
}

/* Passes the parts to the process, which copies them in its own time. */
static bool ask_copy(struct rotate_process *p, const struct flight_buffer *m)
{
	static const struct question part = { .call = CALL_PART }, copy = { .call = CALL_COPY };

	for (size_t i = flight_buffer_first(m); i < m->n; i++) {
		if (!helper_send(p->process.h.sock, &part, QUESTION_HEAD, m->parts[i].fd, 0))
			return lose_files(p);
	}
	if (!output_process_ask(&p->process, &copy, QUESTION_HEAD, -1))
		return lose_files(p);
	p->copy.asked = true;
	return true;
}

bool rotate_process_copy(struct rotate_process *p, const struct flight_buffer *m)
{
	uint64_t bytes = 0;
	int error;

	p->copy = (struct rotate_copy){ .until = m->n ? m->parts[m->n - 1].began : 0 };
	if (!prepare_dir(p)) {
		end_copy(p, errno, 0);
	} else if (!p->remote) {
		error = copy_to_file(&p->rotate, m, &bytes, count_name, p);
		end_copy(p, error, bytes);
	} else if (!ask_copy(p, m)) {
		end_copy(p, errno, 0);
	}
	return p->copy.asked || p->copy.error == 0;
}
