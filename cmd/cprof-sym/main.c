/*
 * cprof-sym: the same stream with names added. pass.c passes the records on, and coverage_report.c prints how
 * many frames got a name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/cprof-sym/coverage_report.h"
#include "cmd/cprof-sym/pass.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/symbol_files.h"
#include "common/elf/mapped.h"
#include "common/stream/scrub.h"

enum { KEY_LEAST = 16, KEY_MOST = 4096, KEY_MADE = 32 };
enum { MAX_MEM_LEAST_MIB = 1, MAX_MEM_MOST_GIB = 1024 };

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
	if (!scrub)
		cli_no_memory();
	return scrub;
}

/* Prints how many frames got a name. Returns their percentage. */
static double report(const struct pass *p, bool verbose)
{
	double named = coverage_report_names(namer_tally(p->namer), verbose);

	coverage_report_runtimes(namer_runtimes(p->namer));
	coverage_report_lines(script_lines_tally(p->lines), verbose);
	return named;
}

/* Reads the files as one stream, as if they were joined. */
static enum status symbolize(char **paths, const struct settings *s)
{
	struct kernel_files *kernel = open_kernel(&s->kernel);
	struct modules *modules = modules_new(&s->modules);
	struct scrub *scrub = s->scrubbed ? begin_scrub(s) : NULL;
	enum status status = STATUS_OK;
	bool refused = false;
	double resolved = 100;
	struct pass p;
	int got = 0;

	if (!modules)
		cli_no_memory();
	pass_begin(&p, modules, &s->times, s->files.symfs);
	namer_use_kernel(p.namer, kernel);
	if (scrub)
		writer_through(p.writer, scrub_put, scrub);
	for (; *paths && got <= 0 && status != STATUS_SYSTEM; paths++) {
		enum status one = pass_file(&p, *paths, &got);

		status = one == STATUS_SYSTEM || one > status ? one : status;
		refused = refused || got < 0;
	}
	pass_end(&p);
	if (scrub && scrub_no_memory(scrub))
		cli_no_memory();
	if (!writer_refused(p.writer) || !writer_flush(p.writer)) /* reported as damage */
		cli_writer_done(p.writer);
	if (got == 0 && !refused && (p.segments || !p.unwanted))
		resolved = report(&p, s->verbose);
	symbol_files_unread(modules_unread(modules), s->verbose);
	scrub_free(scrub);
	pass_release(&p);
	modules_free(modules);
	kernel_files_free(kernel);
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
