#include "cmd/cprof-record/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "common/base/libc.h"

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

	out->process = (struct file_process){ OUTPUT_PROCESS_NONE, .wait = wait_for_process, .arg = out };
	if (standard)
		cli_refuse_terminal("a capture is binary");
	if (standard && !output_process_may_stall(STDOUT_FILENO))
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

static void add_file(void *arg, const char *path)
{
	struct output *out = arg;

	out->written++;
	hooks_add(&out->hooks, path);
}

static void open_files(struct output *out)
{
	const struct options *o = out->o;
	struct buf error = { 0 };
	bool usage;

	out->files = (struct rotate_process){
		.rotate = { .keep_bytes = o->keep_bytes, .keep_ns = o->keep_ns, .mode = o->mode },
		.named = add_file, .arg = out,
	};
	if (rotate_process_init(&out->files, o->output, wait_for_process, out, &error, &usage))
		return;
	if (error.n && usage)
		cli_usage("-o: %s", buf_cstr(&error));
	cli_die(STATUS_SYSTEM, "%s", error.n ? buf_cstr(&error) : strerror(ENOMEM));
}

void output_open(struct output *out, const struct options *o, const sigset_t *mask,
		 const struct output_asks *asks)
{
	*out = (struct output){ .o = o, .asks = *asks, .fd = -1 };
	out->kind = o->rotate_ns || o->rotate_bytes ? OUTPUT_FILES
		    : o->ring_ns		    ? OUTPUT_FLIGHT_BUFFER
						    : OUTPUT_ONE;
	out->flight_buffer = (struct flight_buffer){ .most_ns = o->ring_ns, .most_bytes = o->ring_bytes };
	out->hooks = (struct hooks){ .command = o->on_rotate, .mask = mask };
	if (out->kind == OUTPUT_ONE)
		open_one(out);
	else
		open_files(out);
}

/* Replaces the sentence that is not reported yet. */
static void complain(struct output *out, const char *before, const char *what, const char *after)
{
	buf_clear(&out->complaint);
	buf_printf(&out->complaint, "%s: %s%s%s", out->files.rotate.pattern.dir, before, what, after);
}

/* Tries again to name complete files that could not be named before. */
static void name_late(struct output *out)
{
	if (out->files.rotate.unnamed)
		rotate_process_adopt(&out->files);
}

/* Opens the next file. Returns false with errno. */
static bool begin_file(struct output *out)
{
	if (!rotate_process_open(&out->files))
		return false;
	name_late(out);
	out->fd = -1;
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
	if (!out->suspended)
		complain(out, "", output_process_error(error), ": samples are lost until it can be written");
	out->suspended = out->incomplete = true;
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

static bool is_of_process(int error)
{
	return error == ETIMEDOUT || error == ECONNRESET;
}

/* For a file of a series. */
static ssize_t write_to_file(void *arg, const uint8_t *bytes, size_t n, const char **why)
{
	struct output *out = arg;
	ssize_t done = rotate_process_write(&out->files, bytes, n);

	if (done < 0 && is_of_process(errno))
		*why = output_process_error(errno);
	return done;
}

/* Ends the program as any filter whose reader is gone. The signal is blocked, and pending now. */
static void end_by_signal(void)
{
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &pipe, NULL);
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
	if (done < 0 && !*why && errno == EPIPE)
		end_by_signal();
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
	size_t adopted;

	rotate_process_adopt(&out->files);
	adopted = out->written;
	out->written = 0;
	if (adopted && !out->o->quiet)
		cli_warn("recovered %zu file%s that an earlier recorder left unfinished: valid, but cut "
			 "at the end", adopted, adopted == 1 ? "" : "s");
	if (out->kind == OUTPUT_FLIGHT_BUFFER) {
		begin_part(out, host_mono_ns());
	} else if (!begin_file(out)) {
		if (errno != ENOSPC && errno != EDQUOT && !is_of_process(errno))
			cli_die(STATUS_SYSTEM, "%s: %s", out->files.rotate.pattern.dir, strerror(errno));
		suspend_output(out);
	}
}

static void new_writer(struct output *out)
{
	out->w = writer_new(out->fd);
	if (!out->w)
		cli_no_memory();
	out->good = 0;
	if (out->kind == OUTPUT_ONE)
		writer_write_by(out->w, write_block, out);
	else if (out->kind == OUTPUT_FILES && !out->suspended)
		writer_write_by(out->w, write_to_file, out);
}

void output_begin(struct output *out)
{
	if (out->kind != OUTPUT_ONE)
		begin_files(out);
	new_writer(out);
}

static void check_writer(const struct output *out)
{
	if (writer_error(out->w))
		cli_die(STATUS_SYSTEM, "%s: %s", name_of(out), writer_error(out->w));
}

/* Returns true if there is room again for a file. Leaves none behind: output_next begins it. */
static bool can_begin_file(struct output *out)
{
	return rotate_process_open(&out->files) && rotate_process_close(&out->files, 0);
}

/* Takes the result of the last copy of the flight buffer. If it failed, the buffer stays. */
static void end_copy(struct output *out)
{
	struct rotate_copy *copy = &out->files.copy;

	if (!copy->ended)
		return;
	copy->ended = false;
	out->silent = false;
	out->uncopied = copy->error;
	if (copy->error) {
		complain(out, "cannot write the data in memory: ", output_process_error(copy->error), "");
		return;
	}
	out->before += copy->bytes;
	flight_buffer_drop(&out->flight_buffer, copy->until);
	name_late(out);
}

/* Returns true if the flight buffer is to be written and can be: one copy after the other. */
static bool is_copy_due(struct output *out)
{
	bool ready = rotate_process_is_ready(&out->files);

	end_copy(out);
	if (!ready && !out->silent && output_process_is_silent(&out->files.process)) {
		complain(out, "", output_process_error(ETIMEDOUT), ": the data in memory waits for it");
		out->silent = true;
	}
	out->requested_later |= out->file_requested;
	out->file_requested = ready && out->requested_later;
	out->requested_later &= !ready;
	return out->file_requested;
}

static enum output_state flush_file(struct output *out, uint64_t now)
{
	const struct options *o = out->o;
	uint64_t bytes = writer_bytes(out->w) - out->good;

	if (writer_error(out->w)) {
		if (writer_full(out->w))
			rotate_process_reserve(&out->files, bytes, true);
		out->incomplete = true;
		return OUTPUT_LOST;
	}
	out->good += bytes;
	out->full = !rotate_process_reserve(&out->files, bytes, false);
	if (out->full || out->file_requested || (o->rotate_ns && now - out->began + SLACK >= o->rotate_ns) ||
	    (o->rotate_bytes && out->good >= o->rotate_bytes))
		return OUTPUT_DUE;
	return OUTPUT_STAYS;
}

static enum output_state flush_part(struct output *out, uint64_t now)
{
	bool due = is_copy_due(out);

	if (writer_error(out->w)) {
		out->incomplete = true;
		return OUTPUT_LOST;
	}
	out->good = writer_bytes(out->w);
	return due || flight_buffer_due(&out->flight_buffer, now) ? OUTPUT_DUE : OUTPUT_STAYS;
}

enum output_state output_flush(struct output *out, uint64_t now)
{
	writer_flush(out->w);
	if (out->kind == OUTPUT_ONE) {
		check_writer(out);
		if (out->replaces)
			replace_file(out);
		return OUTPUT_STAYS;
	}
	if (out->suspended)
		return out->kind == OUTPUT_FLIGHT_BUFFER || can_begin_file(out) ? OUTPUT_DUE : OUTPUT_STAYS;
	return out->kind == OUTPUT_FILES ? flush_file(out, now) : flush_part(out, now);
}

/* Cuts the file to the given number of good bytes and gives it its name. */
static void name_file(struct output *out, uint64_t bytes)
{
	if (!rotate_process_close(&out->files, bytes))
		complain(out, "cannot name a finished file: ", output_process_error(errno), "");
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
	else
		out->incomplete = true;
	out->ended += out->good > 0;
	out->before += out->good;
	name_file(out, out->good);
}

/* Writes the flight buffer to a file and empties it. */
static void write_flight_buffer(struct output *out, uint64_t now)
{
	out->file_requested = false;
	out->buffer_written = now;
	rotate_process_copy(&out->files, &out->flight_buffer);
	end_copy(out);
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

	if (!was_suspended && writer_error(out->w) && !out->lossy)
		complain(out, "", writer_error(out->w), ": samples are lost");
	out->lossy = !was_suspended && writer_error(out->w);
	end_file(out);
	if (!begin_file(out))
		suspend_output(out);
	else if (was_suspended)
		complain(out, "", "it can be written again", "");
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

static void close_files(struct output *out)
{
	bool ready;

	if (out->kind == OUTPUT_FILES)
		end_file(out);
	ready = rotate_process_finish(&out->files);
	end_copy(out);
	if (ready && out->kind == OUTPUT_FLIGHT_BUFFER && (out->file_requested || out->requested_later)) {
		write_flight_buffer(out, host_mono_ns());
		ready = rotate_process_finish(&out->files);
		end_copy(out);
	}
	if (ready)
		name_late(out);
	else
		complain(out, "", output_process_error(ETIMEDOUT),
			 ": the last file is incomplete or has no name");
	out->incomplete |= !ready || out->uncopied || out->written < out->ended;
	flight_buffer_release(&out->flight_buffer);
	rotate_process_release(&out->files);
}

void output_close(struct output *out)
{
	if (out->kind == OUTPUT_ONE) {
		if (!writer_finish(out->w))
			check_writer(out);
		close_one(out);
		out->before = writer_bytes(out->w);
	} else {
		close_files(out);
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
