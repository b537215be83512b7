#include "cmd/cprof-record/output/file_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cprof-record/output/rotate.h"

enum file_call { FILE_TRUNCATE, FILE_WRITE, FILE_CLOSE };

struct question {
	enum file_call call;
	uint8_t bytes[OUTPUT_PROCESS_PIECE];
};

enum { QUESTION_HEAD = offsetof(struct question, bytes) };

/* --- the process ------------------------------------------------------------------------------ */

static int open_path(const struct output_work *w, uint64_t *done)
{
	mode_t mode = *(const mode_t *)w->arg;
	int fd;

	(void)done;
	if (!w->path)
		return STDOUT_FILENO;
	fd = rotate_create(AT_FDCWD, w->path, O_WRONLY, mode);
	if (fd < 0 && errno == EEXIST) /* also a link to a file that does not exist yet */
		fd = open(w->path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	return fd;
}

static struct output_answer make_call(int fd, const struct question *q, size_t n)
{
	struct output_answer a = { 0 };
	ssize_t done = 0;

	if (q->call == FILE_TRUNCATE)
		done = ftruncate(fd, 0);
	else if (q->call == FILE_WRITE)
		done = write(fd, q->bytes, n - QUESTION_HEAD);
	else
		done = close(fd);
	a.error = done < 0 ? errno : 0;
	a.done = done > 0 ? (uint64_t)done : 0;
	return a;
}

static void serve(const struct output_work *w, int sock, int fd)
{
	static struct question q;
	size_t n = sizeof(q);
	int none;

	(void)w;
	while (helper_take(sock, &q, &n, &none, 0) && n >= QUESTION_HEAD) {
		struct output_answer a = make_call(fd, &q, n);

		if (!output_process_answer(sock, &a) || q.call == FILE_CLOSE)
			break;
		n = sizeof(q);
	}
}

/* --- the recorder's side ---------------------------------------------------------------------- */

bool file_process_has(const struct file_process *p)
{
	return p->process.h.sock >= 0;
}

static bool take_answer(struct file_process *p, struct output_answer *a, int *fd, const char **why)
{
	*fd = -1;
	*why = p->wait(p->arg, p->process.h.sock);
	if (!*why && output_process_take(&p->process, a, fd, 0)) {
		errno = a->error;
		return a->error == 0;
	}
	if (!*why)
		*why = output_process_error(errno);
	output_process_end(&p->process);
	return false;
}

bool file_process_open(struct file_process *p, const char *path, mode_t mode, int *fd, struct buf *error)
{
	struct output_work w = { path, open_path, serve, &mode };
	const char *why = NULL;
	struct output_answer a;

	*fd = -1;
	if (!output_process_begin(&p->process, &w)) {
		buf_printf(error, "cannot start the process that opens it: %s", strerror(errno));
		return false;
	}
	if (!take_answer(p, &a, fd, &why))
		buf_printf(error, "%s%s", why ? "cannot open: " : "", why ? why : strerror(errno));
	else if (a.stays)
		return true;
	else if (*fd < 0)
		buf_text(error, strerror(EMFILE)); /* no number was left for the descriptor */
	output_process_end(&p->process);
	return *fd >= 0;
}

static bool ask(struct file_process *p, const struct question *q, size_t n, struct output_answer *a,
		const char **why)
{
	int none;

	*why = NULL;
	if (output_process_ask(&p->process, q, QUESTION_HEAD + n, -1))
		return take_answer(p, a, &none, why);
	*why = output_process_error(errno);
	return false;
}

bool file_process_truncate(struct file_process *p, const char **why)
{
	static const struct question q = { .call = FILE_TRUNCATE };
	struct output_answer a;

	return ask(p, &q, 0, &a, why);
}

ssize_t file_process_write(struct file_process *p, const void *bytes, size_t n, const char **why)
{
	static struct question q = { .call = FILE_WRITE };
	struct output_answer a;

	if (n > OUTPUT_PROCESS_PIECE)
		n = OUTPUT_PROCESS_PIECE;
	memcpy(q.bytes, bytes, n);
	return ask(p, &q, n, &a, why) ? (ssize_t)a.done : -1;
}

bool file_process_close(struct file_process *p, const char **why)
{
	static const struct question q = { .call = FILE_CLOSE };
	struct output_answer a;
	bool good = ask(p, &q, 0, &a, why);
	int error = errno;

	output_process_end(&p->process);
	errno = error;
	return good;
}
