#include "cmd/cprof-record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli.h"

/* It is asked once a second, a moment early or late. */
enum { SLACK = 50000000 };

static const char *name_of(const struct output *out)
{
	return out->fd == STDOUT_FILENO ? "standard output" : out->o->output;
}

/* A file that is there is emptied only when sampling begins: a recording that fails destroys none. */
static int open_one(const char *path)
{
	int fd;

	if (!path || strcmp(path, "-") == 0) {
		cli_refuse_terminal();
		return STDOUT_FILENO;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		cli_die(STATUS_SYSTEM, "%s: %s", path, strerror(errno));
	return fd;
}

void output_open(struct output *out, const struct options *o, const sigset_t *mask)
{
	struct buf error = { 0 };

	*out = (struct output){ .o = o, .rotates = o->rotate_ns || o->rotate_bytes, .fd = -1 };
	out->hooks = (struct hooks){ .command = o->on_rotate, .mask = mask };
	if (!out->rotates) {
		out->fd = open_one(o->output);
		return;
	}
	out->files = (struct files){ .keep_bytes = o->keep_bytes, .keep_ns = o->keep_ns };
	if (files_init(&out->files, o->output, &error))
		return;
	if (error.n && !out->files.pattern.dir)
		cli_usage("-o: %s", buf_cstr(&error));
	cli_die(STATUS_SYSTEM, "%s", error.n ? buf_cstr(&error) : strerror(ENOMEM));
}

static void new_writer(struct output *out)
{
	out->w = writer_new(out->fd);
	if (!out->w)
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	out->good = 0;
}

/* The next file; false: errno. */
static bool begin_file(struct output *out)
{
	out->fd = files_open(&out->files);
	if (out->fd < 0)
		return false;
	out->dark = out->turn = false;
	out->began = host_mono_ns();
	return true;
}

static void go_dark(struct output *out)
{
	int error = errno;

	out->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (out->fd < 0)
		cli_die(STATUS_SYSTEM, "/dev/null: %s", strerror(errno));
	if (!out->dark) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: %s: samples are lost until there is room", out->files.pattern.dir,
			   strerror(error));
	}
	out->dark = true;
	out->turn = false;
}

void output_begin(struct output *out)
{
	struct stat st;
	size_t adopted;

	if (!out->rotates) {
		if (out->fd != STDOUT_FILENO && fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    ftruncate(out->fd, 0) < 0)
			cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), strerror(errno));
		new_writer(out);
		return;
	}
	adopted = files_adopt(&out->files);
	if (adopted && !out->o->quiet)
		cli_warn("%zu file%s of a recorder that did not end well %s there: each is cut, and good up to there",
			 adopted, adopted == 1 ? "" : "s", adopted == 1 ? "was" : "were");
	if (!begin_file(out)) {
		if (errno != ENOSPC && errno != EDQUOT)
			cli_die(STATUS_SYSTEM, "%s: %s", out->files.pattern.dir, strerror(errno));
		go_dark(out);
	}
	new_writer(out);
}

static void check(const struct output *out)
{
	if (writer_error(out->w))
		cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), writer_error(out->w));
}

/* Dark: is there room again? Only asks; the next file is what output_next begins. */
static bool is_light(struct output *out)
{
	int fd = files_open(&out->files);

	if (fd >= 0)
		files_close(&out->files, 0, NULL);
	return fd >= 0;
}

enum output_state output_flush(struct output *out, uint64_t now)
{
	const struct options *o = out->o;

	writer_flush(out->w);
	if (!out->rotates) {
		check(out);
		return OUTPUT_STAYS;
	}
	if (out->dark)
		return is_light(out) ? OUTPUT_DUE : OUTPUT_STAYS;
	if (writer_error(out->w))
		return OUTPUT_LOST;
	out->good = writer_bytes(out->w);
	if (out->turn || (o->rotate_ns && now - out->began + SLACK >= o->rotate_ns) ||
	    (o->rotate_bytes && out->good >= o->rotate_bytes) || !files_reserve(&out->files))
		return OUTPUT_DUE;
	return OUTPUT_STAYS;
}

/* What was written gets its name; what came behind the last flush is cut off where not all could be written. */
static void end_file(struct output *out)
{
	struct buf path = { 0 };
	bool whole;

	if (out->dark) {
		close(out->fd);
		return;
	}
	whole = writer_finish(out->w);
	if (whole)
		out->good = writer_bytes(out->w);
	out->before += out->good;
	if (!files_close(&out->files, out->good, &path)) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: a file could not be given its name: %s", out->files.pattern.dir, strerror(errno));
	} else if (path.n) {
		out->written++;
		hooks_add(&out->hooks, buf_cstr(&path));
	}
	files_keep(&out->files);
	buf_release(&path);
}

void output_next(struct output *out, uint64_t now)
{
	bool was_dark = out->dark;

	end_file(out);
	writer_free(out->w);
	if (!begin_file(out)) {
		go_dark(out);
	} else if (was_dark) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: there is room again", out->files.pattern.dir);
	}
	out->began = now;
	new_writer(out);
}

void output_close(struct output *out)
{
	if (out->rotates) {
		end_file(out);
		hooks_finish(&out->hooks);
		files_release(&out->files);
	} else {
		if (!writer_finish(out->w))
			check(out);
		if (close(out->fd) != 0)
			cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), strerror(errno));
	}
	if (!out->rotates)
		out->before = writer_bytes(out->w);
	writer_free(out->w);
	out->w = NULL;
	hooks_release(&out->hooks);
	buf_release(&out->complaint);
}

uint64_t output_bytes(const struct output *out)
{
	return out->before + (out->dark || !out->w ? 0 : writer_bytes(out->w));
}
