/*
 * cprof-annotate: shows the source lines, and the instructions, of functions with their shares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-annotate/annotate.h"
#include "cmd/shared/facts/losses.h"
#include "cmd/shared/naming.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/profile/sanitize.h"
#include "common/views/brief.h"

enum { ANNOTATE_FUNCTION = FILTERS_END, ANNOTATE_SOURCE_DIR, ANNOTATE_OBJDUMP };
enum { CONTEXT = 5, FUNCTIONS_MATCHED = 20, FUNCTIONS_LISTED = 20, FUNCTIONS_NAMED = 5, LIMIT = 1000000 };

static const struct option_row options[] = {
	{ OPTIONS_VIEW, 'a', "asm", NULL, "instructions too, as objdump prints them" },
	{ OPTIONS_VIEW, 'n', "functions", "FUNCTIONS", "show the hottest functions; of matches 20" },
	{ OPTIONS_VIEW, ANNOTATE_FUNCTION, "function", "NAME", "the function, if a file has its name too" },
	{ OPTIONS_VIEW, 'C', "context", "LINES", "lines before and after those with samples (5)" },
	{ OPTIONS_FILES, ANNOTATE_SOURCE_DIR, "source-dir", "DIR", "look for sources in DIR first" },
	{ OPTIONS_FILES, ANNOTATE_OBJDUMP, "objdump", "PROGRAM", "run this instead of objdump" },
	SYMBOL_FILES_ROWS,
	FILTER_ROWS,
	FILTER_NAMES_ROW,
	{ OPTIONS_OUTPUT, 'o', "output", "text|html|FILE", "text (the default), a page, or a file" },
	COLOUR_ROWS,
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-annotate", "show source lines and instructions with their shares", "[FUNCTION] [FILE ...]", options,
};

struct settings {
	struct annotate annotate;
	struct symbol_files files;
	const char *dirs[SOURCE_DIRS_MOST];
	size_t n_dirs;
	const char *function; /* NULL: the hottest ones */
	size_t functions;     /* 0: not given */
	regex_t expression;
	bool by_expression;
};

static void add_source_dir(struct settings *s, const char *dir)
{
	if (s->n_dirs == SOURCE_DIRS_MOST)
		cli_usage("--source-dir can be given %d times", SOURCE_DIRS_MOST);
	s->dirs[s->n_dirs++] = cli_directory("--source-dir", dir);
}

static void take_option(struct settings *s, int c)
{
	switch (c) {
	case 'a':
		s->annotate.assembly = true;
		break;
	case 'n':
		s->functions = (size_t)cli_number("-n", optarg, 1, LIMIT);
		break;
	case 'C':
		s->annotate.context = (uint32_t)cli_number("-C", optarg, 0, LIMIT);
		break;
	case ANNOTATE_FUNCTION:
		s->function = optarg;
		break;
	case ANNOTATE_SOURCE_DIR:
		add_source_dir(s, optarg);
		break;
	case ANNOTATE_OBJDUMP:
		s->annotate.objdump = optarg;
		break;
	case 'o':
		s->annotate.sheet.html = strcmp(result_kind(optarg), "html") == 0;
		break;
	case COLOUR_OPTION:
		colour_option(optarg);
		break;
	default:
		cli_other(c);
	}
}

/* Stacks stay whole here, so that a line's callees count. */
static void check_options(const struct filters *f)
{
	const struct transform *t = &f->shape;
	const char *option = t->base	   ? "--base"
			     : t->collapse ? "--collapse-recursion"
			     : t->min	   ? "--min"
			     : t->norm	   ? "--norm"
					   : NULL;

	if (option)
		cli_usage("%s is not available in cprof-annotate", option);
}

static bool is_capture(const char *operand)
{
	struct stat st;

	return strcmp(operand, "-") == 0 || stat(operand, &st) == 0;
}

/*
 * Takes the operand that is not a file as the function, and leaves the captures.
 */
static void take_function(struct settings *s, char **operands)
{
	int n = 0;

	for (int i = 0; operands[i]; i++) {
		if (is_capture(operands[i]))
			operands[n++] = operands[i];
		else if (s->function)
			cli_usage("\"%s\" and \"%s\" are not files (expected one function, and captures)",
				  s->function, operands[i]);
		else
			s->function = operands[i];
	}
	operands[n] = NULL;
	if (n == 0 && isatty(STDIN_FILENO) && s->function)
		cli_usage("no capture is given: no file is named \"%s\", and standard input is a terminal",
			  s->function);
	if (n == 0 && isatty(STDIN_FILENO))
		cli_usage("no capture is given, and standard input is a terminal");
}

static enum status read_captures(struct settings *s, struct filters *f, char **operands,
				 struct line_input *in)
{
	enum status status = STATUS_OK;
	struct loaded loaded = { 0 };
	struct buf lost = { 0 };
	struct profile text;

	if (!profile_init(&text))
		cli_no_memory();
	for (; *operands; operands++) {
		enum status one = operand_read(f, *operands, &in->taker, &text, 0, &loaded);

		status = one > status ? one : status;
		if (loaded.texts)
			cli_die(STATUS_USAGE,
				"%s: folded text has no lines: cprof-annotate requires a capture", *operands);
	}
	losses_print(&lost, &loaded.totals);
	if (lost.n)
		cli_warn("%s", buf_cstr(&lost));
	buf_release(&lost);
	profile_release(&text);
	line_input_sum(in, f, &s->annotate.sums);
	s->annotate.sheet.unit = loaded.sums.counted ? "events" : view_unit(&f->view);
	if (!loaded.good)
		exit(STATUS_DAMAGED);
	if (status == STATUS_OK && !s->annotate.sums.sum)
		filters_warn_none(f, "there is nothing to annotate");
	return status;
}

/* Returns whether a function with the whole name exists. */
static bool has_function(const struct settings *s)
{
	for (size_t i = 0; i < s->annotate.sums.n; i++) {
		if (slice_is(line_sums_text(&s->annotate.sums, s->annotate.sums.functions[i].name),
			     s->function))
			return true;
	}
	return false;
}

/* Decides whether FUNCTION is a whole name or, if no function has that name, an expression. */
static void choose_matching(struct settings *s)
{
	char why[200];
	int wrong;

	s->by_expression = s->function && !has_function(s);
	wrong = s->by_expression ? regcomp(&s->expression, s->function, REG_EXTENDED | REG_NOSUB) : 0;
	if (wrong) {
		regerror(wrong, &s->expression, why, sizeof(why));
		cli_usage("invalid FUNCTION \"%s\": no function has this name, and as an expression: %s",
			  s->function, why);
	}
}

/* Without FUNCTION, one without lines is skipped; it is shown if instructions are asked for. */
static bool is_chosen(const struct settings *s, size_t i)
{
	const struct line_sums *l = &s->annotate.sums;
	struct slice name = line_sums_text(l, l->functions[i].name);

	if (!s->function)
		return line_sums_has_lines(l, i) ||
		       (s->annotate.assembly && l->functions[i].location && !l->functions[i].kernel &&
			!l->functions[i].script && name.n && name.p[0] != '[');
	return s->by_expression ? regexec(&s->expression, (const char *)name.p, 0, NULL, 0) == 0
				: slice_is(name, s->function);
}

static void show_function(struct annotate *a, size_t i)
{
	const struct function_sum *f = &a->sums.functions[i];

	sheet_title(&a->sheet, line_sums_text(&a->sums, f->name), line_sums_text(&a->sums, f->module),
		    f->self, f->total);
	annotate_source(a, i);
	if (a->assembly && f->script)
		sheet_note(&a->sheet, "no instructions: the function is one of a script");
	else if (a->assembly)
		annotate_assembly(a, i);
}

/* Shows the chosen functions, heaviest first. Returns the number of those that match. */
static size_t show_functions(struct settings *s)
{
	struct annotate *a = &s->annotate;
	size_t most = s->functions ? s->functions : s->function ? FUNCTIONS_MATCHED : 1, n = 0;

	for (size_t i = 0; i < a->sums.n; i++) {
		if (!is_chosen(s, i) || (!s->function && n == most))
			continue;
		if (n++ < most)
			show_function(a, i);
	}
	if (s->function && n > most)
		sheet_note(&a->sheet, "%zu more functions match (-n shows more)", n - most);
	return n;
}

/* Says that no function matches, and which ones there are. */
static void refuse_function(const struct settings *s, const struct filters *f, enum status status)
	__attribute__((noreturn));
static void refuse_function(const struct settings *s, const struct filters *f, enum status status)
{
	const struct line_sums *l = &s->annotate.sums;
	struct intern names = { 0 };
	const char *guess;
	struct buf there = { 0 };
	uint32_t id;

	for (size_t i = 0; i < l->n; i++) {
		if (!intern_add(&names, line_sums_text(l, l->functions[i].name), &id))
			cli_no_memory();
	}
	guess = present_guess(&names, s->function);
	if (guess)
		buf_printf(&there, "; did you mean %s?", guess);
	for (uint32_t i = 0; i < names.n && i < FUNCTIONS_NAMED; i++)
		buf_printf(&there, "%s%s", i ? ", " : "; hottest: ", (const char *)intern_get(&names, i).p);
	naming_append_missing(f, &there);
	cli_die(status ? status : STATUS_SYSTEM, "cannot find the function \"%s\": no stack has it%s%s",
		s->function, l->n ? "" : ", because no sample was selected", there.n ? buf_cstr(&there) : "");
}

static void refuse_lines(const struct settings *s, const struct filters *f, enum status status)
	__attribute__((noreturn));
static void refuse_lines(const struct settings *s, const struct filters *f, enum status status)
{
	struct buf missing = { 0 };

	naming_append_missing(f, &missing);
	cli_die(status ? status : STATUS_SYSTEM,
		"no function has lines: its debug information is not here (--debug-dir, --symfs)%s%s",
		s->annotate.assembly ? "" : "; -a shows instructions", buf_cstr(&missing));
}

/*
 * Lists the hottest functions, and says how to see their lines. The first one with lines is the example.
 * captures: the operands, which end with NULL.
 */
static void list_functions(struct annotate *a, char *const *captures)
{
	size_t n = a->sums.n < FUNCTIONS_LISTED ? a->sums.n : FUNCTIONS_LISTED, example = 0;
	uint64_t most = n ? a->sums.functions[0].self : 0;
	struct buf text = { 0 };

	while (example < n && !line_sums_has_lines(&a->sums, example))
		example++;
	example = example < n ? example : 0;
	sheet_functions(&a->sheet);
	for (size_t i = 0; i < n; i++) {
		const struct function_sum *f = &a->sums.functions[i];
		struct slice module = line_sums_text(&a->sums, f->module);

		buf_clear(&text);
		sanitize_append_shown(&text, line_sums_text(&a->sums, f->name));
		buf_text(&text, module.n ? " in " : "");
		sanitize_append_shown(&text, module);
		if (text.failed)
			cli_no_memory();
		sheet_row(&a->sheet, &(struct sheet_row){
			.weighs = true, .self = f->self, .total = f->total, .most = most, .by_self = true,
			.label = line_sums_has_lines(&a->sums, i) ? "lines" : "-", .text = buf_view(&text) });
	}
	sheet_table_end(&a->sheet);
	buf_clear(&text);
	brief_quote(&text, line_sums_text(&a->sums, a->sums.functions[example].name));
	buf_byte(&text, ' ');
	brief_quote(&text, slice_of(captures[0] ? captures[0] : "-"));
	if (text.failed)
		cli_no_memory();
	if (a->sums.n > n)
		sheet_note(&a->sheet, "%zu more functions have samples.", a->sums.n - n);
	sheet_note(&a->sheet, "Lines of one:       cprof-annotate %s", buf_cstr(&text));
	sheet_note(&a->sheet, "  with instructions: -a; of the hottest three: -n 3; as a page: -o x.html");
	buf_release(&text);
}

/* status: how reading ended; damage is reported before a function that is missing. */
static void annotate_all(struct settings *s, const struct filters *f, enum status status,
			 char *const *captures)
{
	struct annotate *a = &s->annotate;

	choose_matching(s);
	a->sheet.sum = a->sums.sum;
	sheet_begin(&a->sheet, s->function ? s->function : "Hottest functions");
	if (!s->function && !s->functions && !a->assembly && a->sums.n) {
		list_functions(a, captures);
		sheet_end(&a->sheet);
	} else if (show_functions(s)) {
		sheet_end(&a->sheet);
	} else if (s->function) {
		refuse_function(s, f, status);
	} else if (a->sums.sum) {
		refuse_lines(s, f, status);
	}
	if (s->by_expression)
		regfree(&s->expression);
}

int main(int argc, char **argv)
{
	struct settings s = { .annotate = { .context = CONTEXT, .objdump = "objdump" } };
	struct filters f = { .names = true };
	struct line_input in;
	enum status status;
	char **captures;
	int c;

	cli_begin(&command);
	cli_keep_memory();
	while ((c = cli_option(argc, argv)) != -1) {
		if (!filters_option(&f, c, optarg) && !symbol_files_option(&s.files, c, optarg))
			take_option(&s, c);
	}
	f.files = &s.files;
	filters_check(&f);
	check_options(&f);
	line_input_begin(&in, &f.view, &s.files);
	s.annotate.files = &in.files;
	if (!source_rules_init(&s.annotate.rules, s.dirs, s.n_dirs, s.files.symfs, s.annotate.sheet.html))
		cli_die(STATUS_SYSTEM, "cannot open %s: %m", s.annotate.rules.failed);
	take_function(&s, argv + optind);
	captures = argv + optind;
	result_open(captures);
	status = read_captures(&s, &f, directory_operands(captures, &f.view), &in);
	s.annotate.started = in.traces.start_realtime_ns / 1000000000;
	operands_report(&f);
	annotate_all(&s, &f, status, captures);
	symbol_files_unread(modules_unread(in.files.modules), false);
	line_sums_release(&s.annotate.sums);
	source_rules_release(&s.annotate.rules);
	line_input_end(&in);
	symbol_files_done(&s.files);
	filters_release(&f);
	return status;
}
