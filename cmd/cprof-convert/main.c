/*
 * cprof-convert: converts captures and folded text to the formats of other programs.
 */
#include <unistd.h>

#include "cmd/cprof-convert/convert.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/progress.h"
#include "common/export/json.h"
#include "common/export/pprof.h"

enum { CONVERT_BY = FILTERS_END, CONVERT_DEMANGLE, CONVERT_SAMPLE_TYPE };

static const struct option_row options[] = {
	{ OPTIONS_OUTPUT, 't', "to-format",
	  "pprof|speedscope|firefox|perfetto|callgrind|tsv|perf|perfscript|stream", "the format to write" },
	{ OPTIONS_OUTPUT, 'o', "output", "FILE", "write to FILE; its suffix can stand for -t" },
	{ OPTIONS_OUTPUT, 'f', "from-format", "perfscript|pprof", "what the input of -t stream is" },
	{ OPTIONS_OUTPUT, CONVERT_BY, "by", "thread|process|all", "one profile for each of these (speedscope)" },
	{ OPTIONS_OUTPUT, CONVERT_DEMANGLE, "demangle", "none|simplified|templates|full",
	  "form of names in the stream (simplified)" },
	{ OPTIONS_OUTPUT, CONVERT_SAMPLE_TYPE, "sample-type", "TYPE", "sample type of pprof profiles for the stream" },
	FILTER_ROWS,
	FILTER_NAMES_ROW,
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-convert", "convert a capture for other tools, and their text to a capture", "[FILE ...]", options,
};

/*
 * The formats: the name for -t, and the function. Flags: the output is binary; made of stacks by address;
 * made of stacks by name; made of addresses, which its readers name. known: whether this build
 * has the format (NULL: always).
 */
enum { FORMAT_BINARY = 1, FORMAT_STACKS = 2, FORMAT_NAMES = 4, FORMAT_RAW = 8 };

static const struct format {
	const char *name;
	enum status (*convert)(struct conversion *c);
	unsigned int flags;
	bool (*known)(void);
} formats[] = {
	{ "pprof", convert_pprof, FORMAT_BINARY | FORMAT_STACKS, pprof_known },
	{ "speedscope", convert_speedscope, FORMAT_STACKS, json_known },
	{ "firefox", convert_firefox, FORMAT_STACKS, json_known },
	{ "perfetto", convert_perfetto, FORMAT_BINARY | FORMAT_STACKS, NULL },
	{ "callgrind", convert_callgrind, FORMAT_STACKS, NULL },
	{ "tsv", convert_tsv, FORMAT_NAMES, NULL },
	{ "perf", convert_perf, FORMAT_BINARY | FORMAT_RAW, NULL },
	{ "perfscript", convert_perfscript, 0, NULL },
	{ "stream", convert_stream, FORMAT_BINARY, NULL },
};

/* Returns the name of the format that a file of this name has, or NULL. */
static const char *format_of_file(const char *path)
{
	static const char *const suffixes[][2] = {
		{ ".pb.gz", "pprof" }, { ".pprof", "pprof" }, { ".speedscope.json", "speedscope" },
		{ ".firefox.json", "firefox" }, { ".pftrace", "perfetto" }, { ".perfetto-trace", "perfetto" },
		{ ".callgrind", "callgrind" }, { ".tsv", "tsv" }, { ".cprof", "stream" },
	};
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t m = strlen(suffixes[i][0]);

		if (n > m && strcmp(path + n - m, suffixes[i][0]) == 0)
			return suffixes[i][1];
	}
	return NULL;
}

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	cli_invalid("-t", name);
}

/* Inputs are recognized by their contents; -f is for those that are not. */
static enum convert_from find_input(const char *name)
{
	if (strcmp(name, "perfscript") != 0 && strcmp(name, "pprof") != 0)
		cli_invalid("-f", name);
	return strcmp(name, "pprof") == 0 ? FROM_PPROF : FROM_PERFSCRIPT;
}

static void set_by(struct conversion *c, const char *argument)
{
	static const char *const names[] = {
		[SPEEDSCOPE_THREAD] = "thread",
		[SPEEDSCOPE_PROCESS] = "process",
		[SPEEDSCOPE_ALL] = "all",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) == 0) {
			c->by = (enum speedscope_by)i;
			c->has_by = true;
			return;
		}
	}
	cli_invalid("--by", argument);
}

static void set_demangle(struct conversion *c, const char *argument)
{
	c->has_demangle = true;
	if (!demangle_mode_parse(argument, &c->demangle))
		cli_invalid("--demangle", argument);
}

/* Formats made of addresses refuse options that drop or merge frames: their readers do that themselves. */
static void check_shape(const struct transform *s, const struct format *format)
{
	const char *option = s->base ? "--base" : s->collapse ? "--collapse-recursion" : s->min ? "--min" : NULL;

	if (format->flags & FORMAT_NAMES)
		return;
	if (!option && transform_asked(s) && !(format->flags & FORMAT_STACKS))
		option = s->match ? "--match" : s->focus ? "--focus" : s->exclude ? "--exclude" : "--norm";
	if (option)
		cli_usage("%s and -t %s are mutually exclusive", option, format->name);
}

static const struct format *read_options(struct conversion *c, int argc, char **argv)
{
	const struct format *format = NULL;
	const char *file = NULL;
	int option;

	while ((option = cli_option(argc, argv)) != -1) {
		if (filters_option(&c->filters, option, optarg)) {
			c->filtered = true;
			continue;
		}
		if (option == 't')
			format = find_format(optarg);
		else if (option == 'o')
			result_note(file = optarg);
		else if (option == 'f')
			c->from = find_input(optarg);
		else if (option == CONVERT_BY)
			set_by(c, optarg);
		else if (option == CONVERT_SAMPLE_TYPE)
			c->sample_type = optarg;
		else if (option == CONVERT_DEMANGLE)
			set_demangle(c, optarg);
		else
			cli_other(option);
	}
	filters_check(&c->filters);
	if (!format && file && format_of_file(file))
		format = find_format(format_of_file(file));
	if (!format)
		cli_usage("-t FORMAT is required%s", file ? ": the suffix of the file does not give it" : "");
	check_shape(&c->filters.shape, format);
	if (format->flags & FORMAT_RAW)
		c->filters.names = c->filters.hints = false;
	if (c->has_by && format->convert != convert_speedscope)
		cli_usage("--by requires -t speedscope");
	if (c->has_demangle && format->convert != convert_stream)
		cli_usage("--demangle requires -t stream; for the names of other captures, use cprof-sym --demangle");
	if (c->sample_type && format->convert != convert_stream)
		cli_usage("--sample-type requires -t stream");
	if (c->from != FROM_GUESSED && format->convert != convert_stream)
		cli_usage("-f %s requires -t stream; a second cprof-convert makes other formats: "
			  "cprof-convert -t stream FILE | cprof-convert -t %s",
			  c->from == FROM_PPROF ? "pprof" : "perfscript", format->name);
	if (format->known && !format->known())
		cli_usage("-t %s is not available: built without the library that it requires", format->name);
	return format;
}

int main(int argc, char **argv)
{
	struct conversion conversion = { .filters = { .names = true, .hints = true },
					 .demangle = DEMANGLE_SIMPLIFIED };
	const struct format *format;
	enum status status;

	cli_begin(&command);
	format = read_options(&conversion, argc, argv);
	result_open(argv + optind);
	if (format->flags & FORMAT_BINARY)
		cli_refuse_terminal("this format is binary");
	if (isatty(STDOUT_FILENO)) /* text comes while the input is read */
		progress_forbid();
	conversion.operands = directory_operands(argv + optind, &conversion.filters.view);
	status = format->convert(&conversion);
	cli_stdout_done();
	filters_release(&conversion.filters);
	return status;
}
