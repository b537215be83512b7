#include "cmd/cprof-record/output/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/full_write.h"

static const char *name_in_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Writes the text into a temporary file and renames it. Other users may write into the directory as well, so
 * the temporary file is always new: a link or pipe with its name is removed, never followed or waited for.
 */
static bool replace_file(int dir, const char *name, const uint8_t *text, size_t n)
{
	struct buf part = { 0 };
	bool good;
	int fd, error;

	buf_printf(&part, "%s.part", name);
	unlinkat(dir, buf_cstr(&part), 0);
	fd = openat(dir, buf_cstr(&part), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	good = fd >= 0 && full_write(fd, text, n);
	error = errno;
	if (fd >= 0 && close(fd) != 0 && good) {
		good = false;
		error = errno;
	}
	if (good && renameat(dir, buf_cstr(&part), dir, name) != 0) {
		good = false;
		error = errno;
	}
	if (!good && fd >= 0)
		unlinkat(dir, buf_cstr(&part), 0);
	buf_release(&part);
	errno = error;
	return good;
}

/* Returns false once the directory was removed; the caller then opens a new one at its path. */
static bool dir_exists(int dir)
{
	struct stat st;

	return dir >= 0 && fstat(dir, &st) == 0 && st.st_nlink > 0;
}

/* --- the process ------------------------------------------------------------------------------ */

static int open_dir(const struct output_work *w, uint64_t *done)
{
	const char *name = name_in_dir(w->path);
	size_t n = (size_t)(name - w->path);
	struct buf dir = { 0 };
	int fd;

	(void)done;
	buf_printf(&dir, "%.*s", n > 1 ? (int)n - 1 : (int)n, w->path);
	fd = open(n ? buf_cstr(&dir) : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	buf_release(&dir);
	return fd;
}

/* The text is in a file in memory. */
static int replace_by(int dir, const char *name, int from)
{
	struct stat st;
	void *text;
	int error;

	if (!dir_exists(dir))
		return ENOENT;
	if (fstat(from, &st) != 0)
		return errno;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, from, 0);
	if (text == MAP_FAILED)
		return errno;
	error = replace_file(dir, name, text, (size_t)st.st_size) ? 0 : errno;
	munmap(text, (size_t)st.st_size);
	return error;
}

static void serve(const struct output_work *w, int sock, int dir)
{
	uint8_t question;
	size_t n = sizeof(question);
	int from;

	while (helper_take(sock, &question, &n, &from, 0) && from >= 0) {
		struct output_answer a = { .error = replace_by(dir, name_in_dir(w->path), from) };

		close(from);
		if (!output_process_answer(sock, &a))
			break;
		n = sizeof(question);
	}
}

/* --- the recorder's side ---------------------------------------------------------------------- */

static void begin_opening(struct metrics_file *m)
{
	struct output_work w = { m->path, open_dir, serve, NULL };

	output_process_end(&m->process);
	m->opening = output_process_begin(&m->process, &w);
	m->error = m->opening ? 0 : errno;
}

/* Takes the answer to the last question. Returns false if there is none. */
static bool take_answer(struct metrics_file *m, int ms)
{
	struct output_answer a;
	int fd;

	if (!output_process_take(&m->process, &a, &fd, ms)) {
		m->error = errno;
		m->opening = m->opening && errno == ETIMEDOUT;
		return false;
	}
	m->error = a.error;
	if (m->opening) {
		m->opening = false;
		m->dir = fd;
		if (!a.stays)
			output_process_end(&m->process);
		if (!a.stays && fd < 0 && !m->error)
			m->error = EMFILE; /* no number was left for the descriptor */
	} else if (a.error == ENOENT) {
		output_process_end(&m->process); /* the directory was removed */
	}
	return true;
}

static bool has_process(const struct metrics_file *m)
{
	return m->process.h.sock >= 0;
}

void metrics_file_open(struct metrics_file *m, const char *path)
{
	*m = (struct metrics_file){ .path = path, .dir = -1, .process = OUTPUT_PROCESS_NONE };
	if (!path)
		return;
	begin_opening(m);
	if (m->opening)
		take_answer(m, OUTPUT_PROCESS_MS);
}

void metrics_file_close(struct metrics_file *m)
{
	output_process_end(&m->process);
	if (m->dir >= 0)
		close(m->dir);
	m->dir = -1;
}

/* Opens the directory if there is none. A process that has been silent is not waited for. */
static bool has_dir(struct metrics_file *m, bool last)
{
	int ms = last && !output_process_is_silent(&m->process) ? OUTPUT_PROCESS_MS : 0;

	if (m->process.busy && !take_answer(m, ms) && m->process.busy)
		return false;
	if (has_process(m) || dir_exists(m->dir))
		return true;
	if (m->dir >= 0)
		close(m->dir);
	m->dir = -1;
	if (!helper_may_begin(&m->process.h))
		return false;
	begin_opening(m);
	return m->opening && take_answer(m, OUTPUT_PROCESS_MS) && !m->error;
}

static void ask_process(struct metrics_file *m, const struct buf *text, bool last)
{
	static const uint8_t question;
	int fd = memfd_create("cprof-metrics", MFD_CLOEXEC);

	if (fd < 0 || !full_write(fd, text->p, text->n))
		m->error = errno;
	else if (!output_process_ask(&m->process, &question, sizeof(question), fd))
		m->error = errno;
	else if (last)
		take_answer(m, OUTPUT_PROCESS_MS);
	if (fd >= 0)
		close(fd);
}

bool metrics_file_write(struct metrics_file *m, const struct buf *text, bool last)
{
	int before;

	if (text->failed) {
		errno = ENOMEM;
		return false;
	}
	if (has_dir(m, last)) {
		before = m->error; /* the process wrote it, and no call has waited for that */
		m->error = 0;
		if (!has_process(m))
			m->error = replace_file(m->dir, name_in_dir(m->path), text->p, text->n) ? 0 : errno;
		else
			ask_process(m, text, last);
		if (!m->error && !last)
			m->error = before;
	}
	errno = m->error;
	return m->error == 0;
}
