#include "cmd/cprof-convert/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "cmd/shared/input.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/terminal/progress.h"
#include "common/import/pprof_read.h"
#include "common/perfscript/script_read.h"
#include "common/profile/sanitize.h"

enum { PEEK = 4096, READ_SIZE = 1 << 20, PROFILE_MAX = 1 << 30 };

/* An operand, and the bytes that were read to recognize it. */
struct input {
	int fd;
	const char *name;
	struct slice taken;
};

/*
 * Reads perf script's text and returns the status. Adds the number of its samples to *samples.
 */
static enum status read_script(const struct input *in, struct writer *w, enum demangle_mode demangle,
			       uint64_t *samples)
{
	const char *name = in->name;
	enum status status = STATUS_OK;
	struct script_reader r;

	if (!script_reader_init(&r, in->fd, w, demangle) || !script_reader_unread(&r, in->taken))
		cli_no_memory();
	if (script_read(&r) < 0) {
		if (writer_error(w))
			cli_die(STATUS_SYSTEM, "%s: %s", cli_output_name(), writer_error(w));
		cli_die(STATUS_SYSTEM, "%s: %s", name, strerror(errno));
	}
	if (r.bad) {
		status = STATUS_DAMAGED;
		cli_warn("%s: line %" PRIu64 ": %s; %" PRIu64 " of %" PRIu64 " lines left out", name,
			 r.first_bad, r.why, r.bad, r.lines);
	}
	if (!r.samples)
		cli_warn("%s: no samples%s", name, r.bad ? "; this is not perf script text" : "");
	*samples += r.samples;
	script_reader_release(&r);
	return status;
}

/* Reads the rest of an operand; the profile is needed as a whole. */
static void read_all(const struct input *in, struct buf *bytes)
{
	buf_bytes(bytes, in->taken.p, in->taken.n);
	while (bytes->n <= PROFILE_MAX && buf_reserve(bytes, READ_SIZE)) {
		size_t got = operand_peek(in->fd, in->name, bytes->p + bytes->n, READ_SIZE, READ_SIZE);

		if (!got)
			return;
		bytes->n += got;
	}
	if (bytes->failed)
		cli_no_memory();
	cli_die(STATUS_DAMAGED, "%s: the profile is larger than 1 GiB", in->name);
}

static void warn_lost(const char *name, uint64_t n, const char *what)
{
	if (n)
		cli_warn("%s: %" PRIu64 " %s", name, n, what);
}

/* Names the sample types that the stream does not have. Millions of them may share one long name. */
static void warn_types(const struct input *in, const struct pprof_reader *r)
{
	enum { NAMED = 16, NAME_MAX_BYTES = 100 };
	const struct pprof_tables *t = &r->tables;
	struct buf others = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < t->n_types; i++) {
		struct slice type = pprof_text(t, t->types[i].type);

		if (i == r->type || (i == r->counted && !r->merged) || n++ >= NAMED)
			continue;
		if (type.n > NAME_MAX_BYTES)
			type.n = NAME_MAX_BYTES;
		buf_text(&others, others.n ? ", " : "");
		sanitize_append(&others, type);
	}
	if (n > NAMED)
		buf_printf(&others, " and %zu more", n - NAMED);
	if (n)
		cli_warn("%s: sample types left out: %s (--sample-type)", in->name, buf_cstr(&others));
	buf_release(&others);
}

/* Says which parts of the profile the stream does not have. */
static void warn_profile(const struct input *in, const struct pprof_reader *r)
{
	const struct pprof_tables *t = &r->tables;

	warn_types(in, r);
	warn_lost(in->name, r->lost.rows, "rows left out: they have no value, or one below 0");
	warn_lost(in->name, r->lost.locations, "frames left out: their locations are not in the profile");
	warn_lost(in->name, r->lost.labels,
		  "labels left out: only pid, tid, comm, container and host are kept");
	warn_lost(in->name, r->lost.deep, "stacks lost outer frames: they are too deep");
	warn_lost(in->name, t->bad, "messages that cannot be read to their end");
	if (t->left_out)
		cli_warn("%s: %" PRIu64 " entries left out: a table may have %d", in->name, t->left_out,
			 PPROF_ENTRIES_MAX);
	if (r->merged)
		cli_warn("%s: each row is one sample: there are too many", in->name);
}

/* Reads a profile of pprof and returns the status. Adds the number of its samples to *samples. */
static enum status read_profile(const struct input *in, struct writer *w, const char *type, uint64_t *samples)
{
	struct buf bytes = { 0 };
	struct pprof_reader r;
	bool good;

	read_all(in, &bytes);
	if (!pprof_reader_init(&r, buf_view(&bytes), w))
		cli_no_memory();
	if (!pprof_reader_choose(&r, type))
		cli_die(STATUS_USAGE, "%s: invalid --sample-type \"%s\" (expected a type of the profile)",
			in->name, type);
	if (!pprof_read(&r)) {
		if (writer_error(w))
			cli_die(STATUS_SYSTEM, "%s: %s", cli_output_name(), writer_error(w));
		cli_no_memory();
	}
	good = !r.tables.bad && !r.tables.left_out && !r.lost.rows && !r.lost.locations;
	warn_profile(in, &r);
	if (!r.samples)
		cli_warn("%s: no samples%s", in->name,
			 r.tables.n_types ? "" : "; this is not a profile of pprof");
	*samples += r.samples;
	pprof_reader_release(&r);
	buf_release(&bytes);
	return good ? STATUS_OK : STATUS_DAMAGED;
}

static enum status read_operand(struct conversion *c, const char *path, struct writer *w, uint64_t *samples)
{
	uint8_t start[PEEK];
	struct input in = { .fd = operand_open(path) };
	enum status status, closed;
	bool profile;

	in.name = operand_name(path);
	progress_begin(in.name, in.fd);
	in.taken = (struct slice){ start, operand_peek(in.fd, in.name, start, PEEK, PEEK) };
	profile = c->from == FROM_PPROF ||
		  (c->from == FROM_GUESSED && pprof_looks_like(in.taken));
	if (profile)
		status = read_profile(&in, w, c->sample_type, samples);
	else if (c->sample_type)
		cli_usage("--sample-type requires a profile of pprof");
	else
		status = read_script(&in, w, c->demangle, samples);
	closed = operand_close(in.fd);
	return directory_done(path, closed > status ? closed : status);
}

enum status convert_stream(struct conversion *c)
{
	struct writer *w = writer_new(STDOUT_FILENO);
	enum status status = STATUS_OK;
	uint64_t samples = 0;

	if (c->filtered)
		cli_usage("-t stream converts everything: filter when you read the result");
	if (!w)
		cli_no_memory();
	for (char **operand = c->operands; *operand; operand++) {
		enum status s = read_operand(c, *operand, w, &samples);

		status = s > status ? s : status;
	}
	if (!writer_finish(w))
		cli_die(STATUS_SYSTEM, "%s: %s", cli_output_name(), writer_error(w));
	writer_free(w);
	return samples ? status : STATUS_DAMAGED;
}
