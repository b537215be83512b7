/*
 * cprof-convert: converts captures and folded text to the formats of other programs.
 */
#include "cmd/cprof-convert/convert.h"
#include "common/export/json.h"
#include "common/export/pprof.h"

static const char usage[] = "cprof-convert [-f perfscript] -t FORMAT [--by thread|process|all] "
			    "[--demangle none|simplified|templates|full]\n       " FILTER_USAGE
			    "\n       [FILE ...]";

enum { CONVERT_BY = FILTERS_END, CONVERT_DEMANGLE };

static const struct option options[] = {
	FILTER_ROWS,
	{ "by", required_argument, NULL, CONVERT_BY },
	{ "demangle", required_argument, NULL, CONVERT_DEMANGLE },
	{ "from-format", required_argument, NULL, 'f' },
	{ "to-format", required_argument, NULL, 't' },
	CLI_ROWS,
	{ 0 },
};

/*
 * The formats: the name for -t, and the function. Flags: the output is binary; made of stacks by address;
 * made of stacks by name. known: whether this build has the format (NULL: always).
 */
enum { FORMAT_BINARY = 1, FORMAT_STACKS = 2, FORMAT_NAMES = 4 };

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
	{ "perf", convert_perf, FORMAT_BINARY, NULL },
	{ "perfscript", convert_perfscript, 0, NULL },
	{ "stream", convert_stream, FORMAT_BINARY, NULL },
};

static const struct format *find_format(const char *name)
{
	struct buf names = { 0 };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0) {
			buf_release(&names);
			return &formats[i];
		}
		buf_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
	}
	cli_usage("invalid -t \"%s\" (expected one of %s)", name, buf_cstr(&names));
}

/* Checks -f. Inputs are recognized by their contents, except text to be made a stream. */
static bool is_script(const char *name)
{
	if (strcmp(name, "perfscript") != 0)
		cli_usage("invalid -f \"%s\" (expected perfscript)", name);
	return true;
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
	cli_usage("invalid --by \"%s\" (expected thread, process or all)", argument);
}

static void set_demangle(struct conversion *c, const char *argument)
{
	c->has_demangle = true;
	if (!demangle_mode_parse(argument, &c->demangle))
		cli_usage("invalid --demangle \"%s\" (expected none, simplified, templates or full)", argument);
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
	bool from_script = false;
	int option;

	while ((option = cli_option(argc, argv, FILTER_LETTERS "f:t:hV", options)) != -1) {
		if (filters_option(&c->filters, option, optarg)) {
			c->filtered = true;
			continue;
		}
		if (option == 't')
			format = find_format(optarg);
		else if (option == 'f')
			from_script = is_script(optarg);
		else if (option == CONVERT_BY)
			set_by(c, optarg);
		else if (option == CONVERT_DEMANGLE)
			set_demangle(c, optarg);
		else
			cli_other(option);
	}
	filters_check(&c->filters);
	if (!format)
		cli_usage("-t FORMAT is required");
	check_shape(&c->filters.shape, format);
	if (c->has_by && format->convert != convert_speedscope)
		cli_usage("--by requires -t speedscope");
	if (c->has_demangle && format->convert != convert_stream)
		cli_usage("--demangle requires -t stream; for the names of other captures, use cprof-sym --demangle");
	if (from_script && format->convert != convert_stream)
		cli_usage("-f perfscript requires -t stream; a second cprof-convert makes other formats: "
			  "cprof-convert -t stream FILE | cprof-convert -t %s", format->name);
	if (format->known && !format->known())
		cli_usage("-t %s is not available: built without the library that it requires", format->name);
	return format;
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { (char *)"-", NULL };
	struct conversion conversion = { .demangle = DEMANGLE_SIMPLIFIED };
	const struct format *format;
	enum status status;

	cli_begin("cprof-convert", usage);
	format = read_options(&conversion, argc, argv);
	if (format->flags & FORMAT_BINARY)
		cli_refuse_terminal();
	conversion.operands = argv[optind] ? argv + optind : standard_input;
	status = format->convert(&conversion);
	cli_stdout_done();
	filters_release(&conversion.filters);
	return status;
}
