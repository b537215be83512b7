#include "cmd/cprof-record/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/shared/cli.h"

enum {
	/* Rotation is checked once a second, a moment early or late: a file may end this many ns early. */
	SLACK = 50000000,
	/* Bytes that a pipe takes without blocking when poll(2) reports it writable: a page. */
	PIECE = 4096,
};

static const char *name_of(const struct output *out)
{
	return output_is_standard(out) ? "standard output" : out->o->output;
}

bool output_is_standard(const struct output *out)
{
	return out->kind == OUTPUT_ONE && (!out->o->output || strcmp(out->o->output, "-") == 0);
}

static const char *wait_for_process(void *arg, int sock)
{
	const struct output *out = arg;

	return out->asks.wait(out->asks.arg, sock, POLLIN);
}

/* Leaves an existing file as it is until the first write: a recording that cannot start destroys no file. */
static void open_one(struct output *out)
{
	struct buf error = { 0 };
	struct statx st;
	bool standard = output_is_standard(out);

	out->process = (struct file_process){ .h = HELPER_NONE, .wait = wait_for_process, .arg = out };
	if (standard)
		cli_refuse_terminal("a capture is binary");
	if (standard && !file_process_may_stall(STDOUT_FILENO))
		out->fd = STDOUT_FILENO;
	else if (!file_process_open(&out->process, standard ? NULL : out->o->output, out->o->mode, &out->fd,
				    &error))
		cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), buf_cstr(&error));
	if (file_process_has(&out->process)) {
		out->replaces = !standard;
	} else if (statx(out->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0) {
		out->waits = !S_ISREG(st.stx_mode);
		out->replaces = !standard && !out->waits;
	}
}

void output_open(struct output *out, const struct options *o, const sigset_t *mask,
		 const struct output_asks *asks)
{
	struct buf error = { 0 };

	*out = (struct output){ .o = o, .asks = *asks, .fd = -1 };
	out->kind = o->rotate_ns || o->rotate_bytes ? OUTPUT_FILES
		    : o->ring_ns		    ? OUTPUT_FLIGHT_BUFFER
						    : OUTPUT_ONE;
	out->flight_buffer = (struct flight_buffer){ .most_ns = o->ring_ns, .most_bytes = o->ring_bytes };
	out->hooks = (struct hooks){ .command = o->on_rotate, .mask = mask };
	if (out->kind == OUTPUT_ONE) {
		open_one(out);
		return;
	}
	out->files = (struct rotate){ .keep_bytes = o->keep_bytes, .keep_ns = o->keep_ns, .mode = o->mode };
	if (rotate_init(&out->files, o->output, &error))
		return;
	if (error.n && !out->files.pattern.dir)
		cli_usage("-o: %s", buf_cstr(&error));
	cli_die(STATUS_SYSTEM, "%s", error.n ? buf_cstr(&error) : strerror(ENOMEM));
}

static void new_writer(struct output *out)
{
	out->w = writer_new(out->fd);
	if (!out->w)
		cli_no_memory();
	out->good = 0;
}

static void add_to_hooks(void *context, const char *path)
{
	hooks_add(context, path);
}

/* Tries again to name complete files that could not be named before. */
static void name_late(struct output *out)
{
	if (!out->files.unnamed)
		return;
	out->files.unnamed = false;
	out->written += rotate_adopt(&out->files, add_to_hooks, &out->hooks);
}

/* Opens the next file. Returns false with errno. */
static bool begin_file(struct output *out)
{
	out->fd = rotate_open(&out->files);
	if (out->fd < 0)
		return false;
	name_late(out);
	out->suspended = out->file_requested = false;
	out->began = host_mono_ns();
	return true;
}

static void suspend_output(struct output *out)
{
	int error = errno;

	out->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (out->fd < 0)
		cli_die(STATUS_SYSTEM, "/dev/null: %s", strerror(errno));
	if (!out->suspended) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: %s: samples are lost until it can be written", out->files.pattern.dir,
			   strerror(error));
	}
	out->suspended = true;
	out->file_requested = false;
}

/* Begins a part of the flight buffer. Without memory for it, output is suspended. */
static void begin_part(struct output *out, uint64_t now)
{
	out->fd = flight_buffer_begin(&out->flight_buffer, now);
	if (out->fd < 0)
		suspend_output(out);
	else
		out->suspended = false;
}

static ssize_t write_some(struct output *out, const uint8_t *bytes, size_t n, const char **why)
{
	ssize_t done;

	if (file_process_has(&out->process))
		return file_process_write(&out->process, bytes, n, why);
	do {
		*why = out->waits ? out->asks.wait(out->asks.arg, out->fd, POLLOUT) : NULL;
		done = *why ? -1 : write(out->fd, bytes, out->waits && n > PIECE ? PIECE : n);
	} while (done < 0 && !*why && errno == EAGAIN); /* somebody else made it non-blocking */
	return done;
}

static bool truncate_file(struct output *out, const char **why)
{
	if (file_process_has(&out->process))
		return file_process_truncate(&out->process, why);
	return ftruncate(out->fd, 0) == 0;
}

/* Ends the program if the file cannot be replaced; only an error of the file itself leaves it truncated. */
static void replace_file(struct output *out)
{
	const char *why = out->first.failed ? strerror(ENOMEM) : out->asks.replace(out->asks.arg);
	bool good = !why && truncate_file(out, &why);
	ssize_t done = 0;

	for (size_t at = 0; good && at < out->first.n; at += done > 0 ? (size_t)done : 0) {
		done = write_some(out, out->first.p + at, out->first.n - at, &why);
		good = done >= 0 || (!why && errno == EINTR);
	}
	if (!good)
		cli_die(STATUS_SYSTEM, "%s: cannot write: %s", name_of(out), why ? why : strerror(errno));
	out->replaces = false;
	buf_release(&out->first);
}

/* Keeps the blocks before the first flush: memory or anything else may still make the start fail. */
static ssize_t write_block(void *arg, const uint8_t *bytes, size_t n, const char **why)
{
	struct output *out = arg;

	if (!out->replaces)
		return write_some(out, bytes, n, why);
	buf_bytes(&out->first, bytes, n);
	if (!out->first.failed)
		return (ssize_t)n;
	errno = ENOMEM;
	return -1;
}

static void begin_files(struct output *out)
{
	size_t adopted = rotate_adopt(&out->files, add_to_hooks, &out->hooks);

	if (adopted && !out->o->quiet)
		cli_warn("recovered %zu file%s that an earlier recorder left unfinished: valid, but cut at the end", adopted,
			 adopted == 1 ? "" : "s");
	if (out->kind == OUTPUT_FLIGHT_BUFFER) {
		begin_part(out, host_mono_ns());
	} else if (!begin_file(out)) {
		if (errno != ENOSPC && errno != EDQUOT)
			cli_die(STATUS_SYSTEM, "%s: %s", out->files.pattern.dir, strerror(errno));
		suspend_output(out);
	}
}

void output_begin(struct output *out)
{
	if (out->kind != OUTPUT_ONE)
		begin_files(out);
	new_writer(out);
	if (out->kind == OUTPUT_ONE)
		writer_write_by(out->w, write_block, out);
}

static void check_writer(const struct output *out)
{
	if (writer_error(out->w))
		cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), writer_error(out->w));
}

/* Returns true if there is room again for a file. Leaves none behind: output_next begins it. */
static bool can_begin_file(struct output *out)
{
	int fd = rotate_open(&out->files);

	if (fd >= 0)
		rotate_close(&out->files, 0, NULL);
	return fd >= 0;
}

enum output_state output_flush(struct output *out, uint64_t now)
{
	const struct options *o = out->o;

	writer_flush(out->w);
	if (out->kind == OUTPUT_ONE) {
		check_writer(out);
		if (out->replaces)
			replace_file(out);
		return OUTPUT_STAYS;
	}
	if (out->suspended)
		return out->kind == OUTPUT_FLIGHT_BUFFER || can_begin_file(out) ? OUTPUT_DUE : OUTPUT_STAYS;
	if (out->kind == OUTPUT_FILES)
		rotate_wrote(&out->files, writer_bytes(out->w) - out->good, writer_full(out->w));
	if (writer_error(out->w))
		return OUTPUT_LOST;
	out->good = writer_bytes(out->w);
	if (out->kind == OUTPUT_FLIGHT_BUFFER)
		return out->file_requested || flight_buffer_due(&out->flight_buffer, now) ? OUTPUT_DUE
											  : OUTPUT_STAYS;
	out->full = !rotate_reserve(&out->files);
	if (out->full || out->file_requested || (o->rotate_ns && now - out->began + SLACK >= o->rotate_ns) ||
	    (o->rotate_bytes && out->good >= o->rotate_bytes))
		return OUTPUT_DUE;
	return OUTPUT_STAYS;
}

/* Cuts the file to the given number of good bytes and gives it its name. */
static void name_file(struct output *out, uint64_t bytes)
{
	struct buf path = { 0 };

	if (!rotate_close(&out->files, bytes, &path)) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: cannot name a finished file: %s", out->files.pattern.dir, strerror(errno));
	} else if (path.n) {
		out->written++;
		hooks_add(&out->hooks, buf_cstr(&path));
	}
	rotate_keep(&out->files);
	buf_release(&path);
}

/* Names the file. If not all data could be written, the file is cut at the last flush. */
static void end_file(struct output *out)
{
	if (out->suspended) {
		close(out->fd);
		return;
	}
	if (writer_finish(out->w))
		out->good = writer_bytes(out->w);
	out->before += out->good;
	name_file(out, out->good);
}

/* Writes the flight buffer to a file and empties it. If the write fails, the buffer stays. */
static void write_flight_buffer(struct output *out, uint64_t now)
{
	int fd = rotate_open(&out->files), error = errno;
	uint64_t bytes = 0;
	bool good = fd >= 0 && flight_buffer_copy(&out->flight_buffer, fd, &bytes);

	out->file_requested = false;
	out->buffer_written = now;
	if (fd >= 0) {
		error = errno;
		name_late(out);
		name_file(out, good ? bytes : 0);
	}
	if (good) {
		out->before += bytes;
		flight_buffer_release(&out->flight_buffer);
		return;
	}
	buf_clear(&out->complaint);
	buf_printf(&out->complaint, "%s: cannot write the data in memory: %s", out->files.pattern.dir, strerror(error));
}

static void next_part(struct output *out, uint64_t now)
{
	writer_finish(out->w); /* an incomplete part is a truncated capture */
	if (out->suspended)
		close(out->fd);
	if (out->file_requested)
		write_flight_buffer(out, now);
	begin_part(out, now);
}

static void next_file(struct output *out)
{
	bool was_suspended = out->suspended;

	if (!was_suspended && writer_error(out->w) && !out->lossy) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: %s: samples are lost", out->files.pattern.dir, writer_error(out->w));
	}
	out->lossy = !was_suspended && writer_error(out->w);
	end_file(out);
	if (!begin_file(out)) {
		suspend_output(out);
	} else if (was_suspended) {
		buf_clear(&out->complaint);
		buf_printf(&out->complaint, "%s: it can be written again", out->files.pattern.dir);
	}
}

void output_next(struct output *out, uint64_t now)
{
	if (out->kind == OUTPUT_FLIGHT_BUFFER)
		next_part(out, now);
	else
		next_file(out);
	out->began = now;
	writer_free(out->w);
	new_writer(out);
}

static void close_one(struct output *out)
{
	const char *why = NULL;
	bool good;

	if (file_process_has(&out->process))
		good = file_process_close(&out->process, &why);
	else
		good = close(out->fd) == 0;
	if (!good)
		cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), why ? why : strerror(errno));
}

void output_close(struct output *out)
{
	if (out->kind == OUTPUT_ONE) {
		if (!writer_finish(out->w))
			check_writer(out);
		close_one(out);
		out->before = writer_bytes(out->w);
	} else {
		if (out->kind == OUTPUT_FILES)
			end_file(out);
		else if (out->file_requested)
			write_flight_buffer(out, host_mono_ns());
		name_late(out);
		flight_buffer_release(&out->flight_buffer);
		rotate_release(&out->files);
	}
	writer_free(out->w);
	out->w = NULL;
}

void output_release(struct output *out)
{
	hooks_release(&out->hooks);
	buf_release(&out->complaint);
}

/* Data in the flight buffer does not count as written. */
uint64_t output_bytes(const struct output *out)
{
	bool counts = !out->suspended && out->w && out->kind != OUTPUT_FLIGHT_BUFFER;

	return out->before + (counts ? writer_bytes(out->w) : 0);
}
