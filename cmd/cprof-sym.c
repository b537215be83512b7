/*
 * cprof-sym: the same stream with names added.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/symbol_files.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/progress.h"
#include "common/capture/capture.h"
#include "common/elf/mapped.h"
#include "common/select/select.h"
#include "common/select/window_cut.h"
#include "common/resolve/namer.h"
#include "common/resolve/script_lines.h"
#include "common/stream/reader.h"
#include "common/stream/scrub.h"
#include "common/stream/writer.h"

enum { KEY_LEAST = 16, KEY_MOST = 4096, KEY_MADE = 32 };
enum { LISTED_MAX = 3, MAX_MEM_LEAST_MIB = 1, MAX_MEM_MOST_GIB = 1024 };

/* The values of the options. */
struct settings {
	struct symbol_files files;
	struct modules_options modules;
	struct kernel_options kernel;
	struct view times; /* only from and to are set: samples of other times are left out */
	double least; /* least share of frames with names, percent */
	bool scrubbed;
	const char *key_path; /* NULL: a random key that is not kept */
	bool verbose;
};

static enum demangle_mode parse_mode(const char *text)
{
	enum demangle_mode mode;

	if (!demangle_mode_parse(text, &mode))
		cli_invalid("--demangle", text);
	if (mode != DEMANGLE_NONE && !demangle_possible())
		cli_warn("built without libiberty: names stay mangled");
	return mode;
}

/* "FILE" or "FILE,OFFSET". A file whose name is the whole text takes precedence. */
static void parse_kernel(struct kernel_options *o, char *text)
{
	char *comma = strrchr(text, ','), *end;

	if (!text[0])
		cli_usage("--kernel requires a file");
	o->path = text;
	if (!comma || access(text, F_OK) == 0)
		return;
	*comma = '\0';
	errno = 0;
	o->offset = strtoull(comma + 1, &end, 16);
	if (end == comma + 1 || *end || errno)
		cli_usage("invalid --kernel offset \"%s\" (expected a hexadecimal number)", comma + 1);
	o->has_offset = true;
}

static struct kernel_files *open_kernel(const struct kernel_options *o)
{
	struct buf error = { 0 };
	struct kernel_files *k = kernel_files_new(o, &error);

	if (!k)
		cli_die(STATUS_SYSTEM, "--kernel: %s", buf_cstr(&error));
	buf_release(&error);
	return k;
}

static void or_die(bool good)
{
	if (!good)
		cli_no_memory();
}

/* Reads a key and returns its length in bytes. */
static size_t read_key(const char *path, uint8_t key[KEY_MOST + 1])
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(key, 1, KEY_MOST + 1, f) : 0;

	if (!f || ferror(f))
		cli_die(STATUS_SYSTEM, "cannot read the key %s: %s", path, strerror(errno));
	fclose(f);
	if (n < KEY_LEAST || n > KEY_MOST)
		cli_die(STATUS_SYSTEM, "invalid key %s (expected %d to %d bytes)", path, KEY_LEAST, KEY_MOST);
	return n;
}

static struct scrub *begin_scrub(const struct settings *s)
{
	uint8_t key[KEY_MOST + 1];
	size_t n = KEY_MADE;
	struct scrub *scrub;

	if (s->key_path)
		n = read_key(s->key_path, key);
	else if (getrandom(key, n, 0) != (ssize_t)n)
		cli_die(STATUS_SYSTEM, "cannot make a key: %s", strerror(errno));
	scrub = scrub_new((struct slice){ key, n });
	or_die(scrub);
	return scrub;
}

/* One pass over the stream: the reader, the capture it describes, the names and the writer. */
struct pass {
	struct reader *reader;
	struct writer *writer;
	struct capture capture;
	struct namer *namer;
	struct script_lines *lines;
	uint64_t bytes; /* bytes that the writer had written before this record */
	bool open; /* the last record was a name or filled a block: names of an earlier run may follow */
	bool due;  /* that block has ended, and the missing names have not been written yet */
	bool timed; /* --from or --to was given */
	struct window_cut leave;
	uint64_t segments, unwanted; /* segments passed on; segments left out unread */
	uint64_t first, last;        /* times of the segments left out, nanoseconds since 1970 */
};

static bool is_name(uint32_t type)
{
	return type == RECORD_STRING || type == RECORD_SYMBOL || type == RECORD_SOURCE ||
	       type == RECORD_LANG_LINE || type == RECORD_SCRIPT_SOURCE;
}

/* Most records are of these types. None of them can be large or end a block or segment. */
static bool is_batched(uint32_t type)
{
	return type == RECORD_FRAME || type == RECORD_NODE || type == RECORD_SAMPLE;
}

/* Returns whether the record is too large to share a block with the records before it. */
static bool is_large(const struct record *r)
{
	size_t n = r->tail.n;

	n += r->type == RECORD_JITMAP ? r->jitmap.data.n : r->type == RECORD_IMAGE ? r->image.data.n : 0;
	return n >= WRITER_BLOCK;
}

static void write_last_names(struct pass *p)
{
	or_die(script_lines_say(p->lines, &p->capture, p->writer) &&
	       namer_last(p->namer, &p->capture, p->writer));
}

static void write_names(struct pass *p)
{
	or_die(namer_say(p->namer, &p->capture, p->writer) &&
	       script_lines_say(p->lines, &p->capture, p->writer));
	p->due = false;
}

/*
 * Writes names when a block of the input or of the output ends. But names of an earlier run may continue in
 * the next block, if this block is full or ends with names. Then the missing names are written once no more
 * of the earlier run's names follow. So a second run reads all names of the first before it would repeat
 * them.
 */
static void before_record(struct pass *p, const struct record *r)
{
	if (r->type == RECORD_SEGMENT || r->type == RECORD_END) {
		write_last_names(p);
		p->due = false;
	} else if (r->type == RECORD_FLUSH && p->open) {
		p->due = true;
	} else if (r->type == RECORD_FLUSH || (p->due && !is_name(r->type))) {
		write_names(p);
	} else if (is_large(r)) {
		write_names(p);
		writer_flush(p->writer);
	}
}

/*
 * Updates the state after a record of the type; good: the writer took it. Returns false if the system failed.
 */
static bool note_written(struct pass *p, bool good, uint32_t type)
{
	uint64_t before = p->bytes;
	bool full;

	if (!good) {
		if (!writer_refused(p->writer))
			return false;
		reader_complain(p->reader, writer_error(p->writer));
	}
	p->bytes = writer_bytes(p->writer);
	full = p->bytes != before;
	if (type != RECORD_FLUSH) {
		p->open = is_name(type) || full;
		p->due |= full;
	}
	return true;
}

static void apply_record(struct pass *p, const struct record *r)
{
	const char *wrong = capture_apply(&p->capture, r);

	or_die(!p->capture.no_memory);
	if (wrong) /* pass the record on all the same, so that the next reader reports it too */
		reader_complain(p->reader, wrong);
	else if (namer_minds(r))
		or_die(namer_see(p->namer, &p->capture, r) && script_lines_see(p->lines, &p->capture, r));
}

/* Returns whether records of the type are passed on as batches. --from and --to check each sample. */
static bool goes_whole(const struct pass *p, uint32_t type)
{
	return is_batched(type) && !(p->timed && type == RECORD_SAMPLE);
}

/* Writes the batch as it came, without encoding it again, once its last record has been seen. */
static bool pass_batch(struct pass *p)
{
	struct stream_batch batch;

	return !reader_batch(p->reader, &batch) || !goes_whole(p, batch.type) ||
	       note_written(p, writer_put_batch(p->writer, &batch), batch.type);
}

static bool pass_one(struct pass *p, const struct record *r)
{
	if (p->due || !is_batched(r->type)) {
		before_record(p, r);
		p->bytes = writer_bytes(p->writer);
	}
	apply_record(p, r);
	if (goes_whole(p, r->type))
		return !r->last || pass_batch(p);
	return note_written(p, writer_put(p->writer, r), r->type);
}

/* Writes the running spans whose part in the window is known by now. */
static bool pass_ran(struct pass *p, const struct record *r)
{
	struct record made;

	while (window_cut_ran(&p->leave, &p->capture, r, &made)) {
		if (!pass_one(p, &made))
			return false;
	}
	return true;
}

static bool pass_left_out(struct pass *p)
{
	struct record made;

	while (window_cut_rest(&p->leave, &made)) {
		if (!pass_one(p, &made))
			return false;
	}
	return true;
}

static bool pass_record(struct pass *p, const struct record *r)
{
	struct record made;

	p->segments += r->type == RECORD_SEGMENT;
	if (!is_batched(r->type) && !pass_batch(p)) /* if damage ended the batch */
		return false;
	if (!p->timed)
		return pass_one(p, r);
	if (!pass_ran(p, r))
		return false;
	if (r->type == RECORD_RAN && window_cut_keeps(&p->leave, &p->capture, &r->ran))
		return true;
	if (r->type == RECORD_WOKEN && !window_cut_woken(&p->leave, &p->capture, &r->woken))
		return true;
	if (r->type == RECORD_OUTSIDE && !window_cut_outside(&p->leave, &p->capture, &r->outside))
		return true;
	if (r->type == RECORD_SAMPLE) {
		switch (window_cut_sample(&p->leave, &p->capture, &r->sample, &made)) {
		case WINDOW_CUT_NOT:
			return pass_one(p, r);
		case WINDOW_CUT_OUT:
			return true;
		case WINDOW_CUT_REPLACED:
			return pass_one(p, &made);
		}
	}
	return ((r->type != RECORD_SEGMENT && r->type != RECORD_END) || pass_left_out(p)) && pass_one(p, r);
}

static void print_count(const struct coverage_count *c)
{
	struct slice why = c->unnamed ? c->why : slice_of("");

	cli_line("  %10" PRIu64 " of %10" PRIu64 "  %.*s%s%.*s%s%s", c->named, c->named + c->unnamed, (int)c->where.n,
		 (const char *)c->where.p, c->unnamed ? " (" : "", (int)why.n, (const char *)why.p, c->unnamed ? ")" : "",
		 c->by_path ? " (by path alone)" : "");
}

/*
 * Prints "cprof-sym: 812 of 824 frames named (98.5 %); unresolved: 12 in /lib/x.so (build-id-mismatch)".
 * Returns the percentage.
 */
static double report_names(struct coverage *t, bool verbose)
{
	size_t n, listed = 0, by_path = coverage_by_path(t);
	const struct coverage_count *counts = coverage_sorted(t, &n);
	struct buf line = { 0 };
	uint64_t named = 0, unnamed = 0, rest;

	or_die(counts);
	for (size_t i = 0; i < n; i++) {
		named += counts[i].named;
		unnamed += counts[i].unnamed;
	}
	rest = unnamed;
	buf_printf(&line, "%" PRIu64 " of %" PRIu64 " frames named", named, named + unnamed);
	if (named + unnamed)
		buf_printf(&line, " (%.1f %%)", 100.0 * (double)named / (double)(named + unnamed));
	for (; listed < n && listed < LISTED_MAX && counts[listed].unnamed; listed++) {
		const struct coverage_count *c = &counts[listed];

		buf_printf(&line, "%s%" PRIu64 " in %.*s (%.*s)", listed ? ", " : "; unresolved: ",
			   c->unnamed, (int)c->where.n, (const char *)c->where.p, (int)c->why.n,
			   (const char *)c->why.p);
		rest -= c->unnamed;
	}
	if (rest)
		buf_printf(&line, ", %" PRIu64 " elsewhere%s", rest, verbose ? "" : " (-v lists all)");
	cli_warn("%s", buf_cstr(&line));
	if (by_path)
		cli_warn("%zu %s by path alone (%s no build ID)", by_path, by_path == 1 ? "file taken" : "files taken",
			 by_path == 1 ? "it has" : "they have");
	for (size_t i = 0; verbose && i < n; i++)
		print_count(&counts[i]);
	buf_release(&line);
	return named + unnamed ? 100.0 * (double)named / (double)(named + unnamed) : 100;
}

/* Names the page of options for runtimes whose compiled code has no names. */
static void report_runtimes(const struct jit_runtimes *t)
{
	for (unsigned int i = 0; i < JIT_RUNTIMES; i++) {
		if (jit_runtimes_lacks(t, i))
			cli_warn("%" PRIu64 " of %" PRIu64 " frames compiled by %s at run time have no name; "
				 "cprof-languages(7) lists ways to name them",
				 t->counts[i].unnamed, t->counts[i].named + t->counts[i].unnamed, jit_runtimes_name(i));
	}
}

/* Prints "lines of 812 of 824 frames of scripts found; none for 12 in /app/x.js (file-changed)". */
static void report_lines(struct coverage *t, bool verbose)
{
	size_t n, listed = 0;
	const struct coverage_count *counts = coverage_sorted(t, &n);
	struct buf line = { 0 };
	uint64_t named = 0, unnamed = 0, rest;

	or_die(counts || n == 0);
	for (size_t i = 0; i < n; i++) {
		named += counts[i].named;
		unnamed += counts[i].unnamed;
	}
	if (!unnamed)
		return;
	rest = unnamed;
	buf_printf(&line, "lines of %" PRIu64 " of %" PRIu64 " frames of scripts found", named, named + unnamed);
	for (; listed < n && listed < LISTED_MAX && counts[listed].unnamed; listed++) {
		const struct coverage_count *c = &counts[listed];

		buf_printf(&line, "%s%" PRIu64 " in %.*s (%.*s)", listed ? ", " : "; none: ", c->unnamed,
			   c->where.n ? (int)c->where.n : 6, c->where.n ? (const char *)c->where.p : "(eval)",
			   (int)c->why.n, (const char *)c->why.p);
		rest -= c->unnamed;
	}
	if (rest)
		buf_printf(&line, ", %" PRIu64 " elsewhere%s", rest, verbose ? "" : " (-v lists all)");
	cli_warn("%s", buf_cstr(&line));
	for (size_t i = 0; verbose && i < n; i++)
		print_count(&counts[i]);
	buf_release(&line);
}

static bool is_wanted(const void *context, const struct segment_extent *x)
{
	struct pass *p = (struct pass *)context;

	if (select_wants(p->leave.view, x))
		return true;
	p->first = !p->unwanted || x->from < p->first ? x->from : p->first;
	p->last = !p->unwanted || x->to > p->last ? x->to : p->last;
	p->unwanted++;
	return false;
}

static void append_time(struct buf *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		buf_text(out, text);
	else
		buf_printf(out, "@%lld", (long long)seconds);
}

/* Writes an empty capture if no segment is in the window: the next reader must not get empty input. */
static void pass_nothing(struct pass *p)
{
	struct buf text = { 0 };

	writer_put(p->writer, &(struct record){ .type = RECORD_SEGMENT, .segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	writer_put(p->writer, &(struct record){ .type = RECORD_FLUSH });
	writer_put(p->writer, &(struct record){ .type = RECORD_END, .end = { .reason = END_CLOSED } });
	buf_printf(&text, "no segment is in the given time: %" PRIu64 " segment%s cover%s ", p->unwanted,
		   p->unwanted == 1 ? "" : "s", p->unwanted == 1 ? "s" : "");
	append_time(&text, p->first);
	buf_text(&text, " to ");
	append_time(&text, p->last);
	or_die(!text.failed);
	cli_warn("%s", buf_cstr(&text));
	buf_release(&text);
}

static enum status pass_file(struct pass *p, const char *path, int *got)
{
	struct reader_choice choice = { p, is_wanted };
	int fd = operand_open(path);
	enum status status;
	struct record r;

	or_die((p->reader = reader_new(fd, operand_name(path))));
	if (p->timed)
		reader_choose(p->reader, &choice);
	progress_begin(operand_name(path), fd);
	while ((*got = reader_next(p->reader, &r)) > 0 && pass_record(p, &r))
		;
	status = operand_reader_done(p->reader, *got, fd);
	operand_close(fd);
	return directory_done(path, status);
}

/* Reads the files as one stream, as if they were joined. */
static enum status symbolize(char **paths, const struct settings *s)
{
	struct kernel_files *kernel = open_kernel(&s->kernel);
	struct modules *modules = modules_new(&s->modules);
	struct pass p = { .writer = writer_new(STDOUT_FILENO), .timed = select_by_clock(&s->times), .leave.view = &s->times };
	enum status status = STATUS_OK;
	struct scrub *scrub = s->scrubbed ? begin_scrub(s) : NULL;
	bool refused = false;
	double resolved = 100;
	int got = 0;

	or_die(modules && p.writer && capture_init(&p.capture));
	or_die((p.namer = namer_new(modules)) && (p.lines = script_lines_new(s->files.symfs)));
	namer_use_kernel(p.namer, kernel);
	if (scrub)
		writer_through(p.writer, scrub_put, scrub);
	for (; *paths && got <= 0 && status != STATUS_SYSTEM; paths++) {
		enum status one = pass_file(&p, *paths, &got);

		status = one == STATUS_SYSTEM || one > status ? one : status;
		refused = refused || got < 0;
	}
	pass_ran(&p, NULL); /* for a segment that was cut */
	pass_left_out(&p);
	or_die(!p.leave.no_memory && !(scrub && scrub_no_memory(scrub)));
	write_last_names(&p);
	if (!p.segments && p.unwanted)
		pass_nothing(&p);
	if (!writer_refused(p.writer) || !writer_flush(p.writer)) /* reported as damage */
		cli_writer_done(p.writer);
	if (got == 0 && !refused && (p.segments || !p.unwanted)) {
		resolved = report_names(namer_tally(p.namer), s->verbose);
		report_runtimes(namer_runtimes(p.namer));
		report_lines(script_lines_tally(p.lines), s->verbose);
	}
	symbol_files_unread(modules_unread(modules), s->verbose);
	scrub_free(scrub);
	script_lines_free(p.lines);
	namer_free(p.namer);
	modules_free(modules);
	kernel_files_free(kernel);
	capture_release(&p.capture);
	window_cut_release(&p.leave);
	if (status == STATUS_OK && resolved < s->least) {
		cli_warn("fewer than %g %% of the frames are named (--min-resolved)", s->least);
		status = STATUS_BELOW;
	}
	return status;
}

enum { DEMANGLE = 256, MAX_MEM, MIN_RESOLVED, KERNEL, FROM, TO, SCRUB, SCRUB_KEY };

static const struct option_row options[] = {
	{ OPTIONS_FRAMES, 'i', "inlined", NULL, "add inlined calls from debug information" },
	{ OPTIONS_FRAMES, 'l', "lines", NULL, "add source files and lines" },
	{ OPTIONS_FRAMES, DEMANGLE, "demangle", "none|simplified|templates|full", "form of function names (simplified)" },
	SYMBOL_FILES_ROWS,
	{ OPTIONS_FILES, KERNEL, "kernel", "FILE[,OFFSET]", "names of the kernel, if the capture has none" },
	{ OPTIONS_FILES, MAX_MEM, "max-mem", "SIZE", "memory for symbols of files (128M)" },
	{ OPTIONS_SELECT, FROM, "from", "TIME", "pass on samples from this time on: 14:03:20, -1h" },
	{ OPTIONS_SELECT, TO, "to", "TIME", "pass on samples before this time" },
	{ OPTIONS_OUTPUT, 'o', "output", "FILE", "write the capture to FILE" },
	{ OPTIONS_OUTPUT, MIN_RESOLVED, "min-resolved", "PERCENT", "status 4 if fewer frames get a name" },
	{ OPTIONS_OUTPUT, SCRUB, "scrub", NULL, "hide host, commands and paths" },
	{ OPTIONS_OUTPUT, SCRUB_KEY, "scrub-key", "FILE", "hash them with the key in FILE" },
	{ OPTIONS_OUTPUT, 'v', "verbose", NULL, "list how many frames of each file got a name" },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = { "cprof-sym", "add names to a capture", "[FILE ...]", options };

/* Handles options that locate files. Returns false for any other option. */
static bool take_file_option(struct settings *s, int option)
{
	if (option != KERNEL)
		return symbol_files_option(&s->files, option, optarg);
	if (s->kernel.path)
		cli_usage("--kernel can be given only once");
	parse_kernel(&s->kernel, optarg);
	return true;
}

static void take_time(struct time_arg *to, const char *option)
{
	cli_instant(to, option, optarg);
	if (to->kind == TIME_ARG_OFFSET)
		cli_usage("invalid %s \"%s\" (expected a time, like 14:03:20, 2026-11-21T14:03:20Z or -1h)",
			  option, optarg);
}

/* Handles the other options. */
static void take_option(struct settings *s, int option)
{
	struct modules_options *mo = &s->modules;

	switch (option) {
	case DEMANGLE:
		mo->demangle = parse_mode(optarg);
		break;
	case 'i':
		mo->levels |= INLINE_CHAIN_INLINED;
		break;
	case 'l':
		mo->levels |= INLINE_CHAIN_LINES;
		break;
	case MAX_MEM:
		mo->max_mem = (size_t)cli_size("--max-mem", optarg, MAX_MEM_LEAST_MIB, MAX_MEM_MOST_GIB);
		break;
	case MIN_RESOLVED:
		s->least = cli_percent("--min-resolved", optarg);
		break;
	case FROM:
		take_time(&s->times.from, "--from");
		break;
	case TO:
		take_time(&s->times.to, "--to");
		break;
	case SCRUB:
		s->scrubbed = true;
		break;
	case SCRUB_KEY:
		s->key_path = optarg;
		break;
	case 'o':
		result_note(optarg);
		break;
	case 'v':
		s->verbose = true;
		break;
	default:
		cli_other(option);
	}
}

static void parse_options(struct settings *s, int argc, char **argv)
{
	struct modules_options *mo = &s->modules;
	int c;

	while ((c = cli_option(argc, argv)) != -1) {
		if (!take_file_option(s, c))
			take_option(s, c);
	}
	if (s->key_path && !s->scrubbed)
		cli_usage("--scrub-key requires --scrub");
	s->times.wall = true; /* a later reader may ask for waits */
	cli_window(&s->times.from, "--from", &s->times.to, "--to");
	mo->debuginfod = s->files.debuginfod;
	s->kernel.symfs = mo->symfs = s->files.symfs;
	s->kernel.debug_dirs = mo->debug_dirs = s->files.n_debug_dirs ? s->files.debug_dirs : NULL;
	s->kernel.n_debug_dirs = mo->n_debug_dirs = s->files.n_debug_dirs;
}

int main(int argc, char **argv)
{
	struct settings s = { .modules = { .demangle = DEMANGLE_SIMPLIFIED } };
	enum status status;

	cli_begin(&command);
	parse_options(&s, argc, argv);
	result_open(argv + optind);
	cli_refuse_terminal("a capture is binary");
	mapped_guard(); /* if the system refuses, files are copied */
	status = symbolize(directory_operands(argv + optind, &s.times), &s);
	symbol_files_done(&s.files);
	return status;
}
