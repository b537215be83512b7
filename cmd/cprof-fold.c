/*
 * cprof-fold: converts captures and folded text to folded text, each stack once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/shared/facts/losses.h"
#include "cmd/shared/filters.h"
#include "cmd/shared/folded_print.h"
#include "cmd/shared/input.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/result_file.h"
#include "common/export/json.h"
#include "common/export/slice_rows.h"
#include "common/folded/folded.h"
#include "common/profile/sanitize.h"
#include "common/folded/folded_sorted.h"
#include "common/stream/block.h"

enum { FOLD_CONTAINER = FILTERS_END, FOLD_TRUNCATED, FOLD_MAX_LINE, FOLD_MAX_MEM, FOLD_SORTED, FOLD_INTERVAL };
enum { LINE_LEAST = 256, LINE_MOST = FOLDED_LINE_MAX, BUDGET_MIB = 256, OUTPUT = 256 << 10 };

static const struct option_row options[] = {
	{ OPTIONS_VIEW, FILTER_BY, "by", FILTER_BY_VALUES, "stacks of these instead of functions" },
	{ OPTIONS_VIEW, FILTER_BLAME, "blame", NULL, "continue long waits with their causes" },
	{ OPTIONS_VIEW, 'p', "with-pid", NULL, "begin stacks with comm-pid" },
	{ OPTIONS_VIEW, 't', "with-tid", NULL, "begin stacks with comm-pid/tid" },
	{ OPTIONS_VIEW, FOLD_CONTAINER, "container", NULL, "begin stacks with the container" },
	{ OPTIONS_VIEW, FOLD_TRUNCATED, "truncated", NULL,
	  "a frame with the reason where stacks are truncated" },
	FILTER_ROWS_LATENCY,
	FILTER_NAMES_ROW,
	{ OPTIONS_FRAMES, 'a', "annotate", NULL, "mark frames: _[k] kernel, _[j] JIT, _[i] inlined" },
	{ OPTIONS_FRAMES, 'd', "delimiter", NULL, "a frame - between user and kernel stack" },
	{ OPTIONS_SHAPE, FILTER_REVERSE, "reverse", NULL, "begin stacks with the innermost frame" },
	{ OPTIONS_OUTPUT, 'o', "output", "tsv|ndjson|json|FILE", "rows for programs, or a file of either" },
	{ OPTIONS_OUTPUT, FOLD_INTERVAL, "interval", "SECONDS", "rows for each interval of time" },
	{ OPTIONS_OUTPUT, 'T', "tab", NULL, "a tab before the count" },
	{ OPTIONS_OUTPUT, FOLD_SORTED, "sorted", NULL, "merge folded text that is sorted already" },
	{ OPTIONS_OUTPUT, FOLD_MAX_LINE, "max-line", "BYTES", "cut longer stacks" },
	{ OPTIONS_OUTPUT, FOLD_MAX_MEM, "max-mem", "SIZE", "memory for stacks (256M)" },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = { "cprof-fold", "print stacks as text, one a line", "[FILE ...]", options };

struct settings {
	size_t line_max; /* 0: the general limit */
	size_t budget;   /* 0: not given */
	bool sorted, tab;
	bool as_rows; /* write rows in the format */
	enum rows_format format;
	uint64_t interval; /* nanoseconds; 0: default */
};

struct fold {
	struct filters f;
	struct settings s;
	struct profile p;   /* captures, and text that is to be transformed */
	struct origins origins;
	struct stack_sums lines; /* text that is only summed, and stacks that exceed the tree's memory */
	uint64_t good;
};

static void take_option(struct fold *fold, int c)
{
	struct filters *f = &fold->f;
	struct view *v = &f->view;

	switch (c) {
	case 'a':
		f->for_captures = "-a";
		v->annotate = true;
		break;
	case 'd':
		f->for_captures = "-d";
		v->delimiter = true;
		break;
	case 'p':
		f->for_captures = "-p";
		v->pid = true;
		break;
	case 't':
		f->for_captures = "-t";
		v->tid = true;
		break;
	case FOLD_CONTAINER:
		f->for_captures = "--container";
		v->container = true;
		break;
	case FOLD_TRUNCATED:
		f->for_captures = "--truncated";
		v->truncated = true;
		break;
	case FOLD_MAX_LINE:
		fold->s.line_max = (size_t)cli_number("--max-line", optarg, LINE_LEAST, LINE_MOST);
		break;
	case FOLD_MAX_MEM:
		fold->s.budget = cli_size("--max-mem", optarg, 1, 1024);
		break;
	case 'o':
		optarg = (char *)result_kind(optarg);
		fold->s.as_rows = strcmp(optarg, "txt") != 0;
		if (fold->s.as_rows && !rows_format_of(optarg, &fold->s.format))
			cli_invalid("-o", optarg);
		break;
	case FOLD_INTERVAL:
		fold->s.interval = filters_seconds("--interval", optarg);
		if (!fold->s.interval)
			cli_usage("invalid --interval \"%s\" (expected more than 0 seconds)", optarg);
		break;
	case FOLD_SORTED:
		fold->s.sorted = true;
		break;
	case 'T':
		fold->s.tab = true;
		break;
	default:
		cli_other(c);
	}
}

/* One line on stderr for an operand whose recorder lost samples. */
static void warn_losses(const char *path, const struct loaded *l)
{
	struct buf text = { 0 };

	losses_print(&text, &l->totals);
	if (text.n)
		cli_warn("%s: %s", operand_name(path), buf_cstr(&text));
	buf_release(&text);
}

/* Text on its way to standard output. */
struct output {
	struct buf text;
	bool tab, refused; /* refused: a write failed; cli_stdout_done reports it */
};

static void write_text(struct buf *text, bool *refused)
{
	*refused = *refused || (text->n && fwrite(text->p, 1, text->n, stdout) != text->n);
	buf_clear(text);
}

/*
 * Appends a line whose stack is text already: from stack_sums, or from sorted texts, of which only one line is
 * in memory. folded_print needs a tree. Returns false if writing has failed.
 */
static bool put_line(struct output *o, struct slice stack, uint64_t count)
{
	size_t at;

	buf_bytes(&o->text, stack.p, stack.n);
	at = o->text.n;
	folded_append_count(&o->text, count);
	buf_byte(&o->text, '\n');
	if (o->text.failed)
		cli_no_memory();
	if (o->tab)
		o->text.p[at] = '\t';
	if (o->text.n >= OUTPUT)
		write_text(&o->text, &o->refused);
	return !o->refused;
}

static void output_done(struct output *o)
{
	write_text(&o->text, &o->refused);
	buf_release(&o->text);
	cli_stdout_done();
}

static void print_lines(struct fold *fold)
{
	struct output o = { .tab = fold->s.tab };
	struct slice stack;
	uint64_t count;
	int got = stack_sums_sort(&fold->lines) ? 1 : -1;

	while (got > 0 && (got = stack_sums_next(&fold->lines, &stack, &count)) > 0 && put_line(&o, stack, count))
		;
	if (got < 0)
		operand_lines_died(&fold->lines, "");
	output_done(&o);
}

/*
 * Moves the tree's stacks to the lines, transformed. Each stack is transformed by itself; only --min needs
 * the whole tree.
 */
static bool tree_to_lines(struct profile *p, void *context)
{
	struct fold *fold = context;

	filters_shape(&fold->f, p);
	if (!folded_pour(&fold->lines, p))
		operand_lines_died(&fold->lines, "");
	if (fold->f.shape.by.asked)
		p->stack_max = 0;
	return true;
}

/* Rows are made from a whole tree, and are not lines of folded text. */
static void begin_rows(struct fold *fold)
{
	origins_init(&fold->origins);
	fold->p.stack_max = fold->f.shape.by.stack_max = 0;
	fold->f.view.origins = &fold->origins;
	fold->f.view.moment_ns = fold->s.interval ? fold->s.interval : SLICE_ROWS_INTERVAL;
}

static void begin_fold(struct fold *fold)
{
	size_t asked = fold->s.budget ? fold->s.budget : (size_t)BUDGET_MIB << 20;
	size_t budget = fold->f.shape.min ? 0 : asked; /* --min needs the whole tree */

	if (!profile_init(&fold->p))
		cli_no_memory();
	fold->p.stack_max = fold->s.line_max ? fold->s.line_max - (PROFILE_LINE_MAX - PROFILE_STACK_MAX) : PROFILE_STACK_MAX;
	fold->f.shape.by.stack_max = fold->p.stack_max;
	if (fold->f.shape.by.asked)
		fold->p.stack_max = 0;
	stack_sums_init(&fold->lines, budget - budget / 4);
	if (fold->s.as_rows) {
		begin_rows(fold);
		return;
	}
	if (!transform_asked(&fold->f.shape) && view_has_key(&fold->f.view, BY_FUNCTION))
		fold->f.lines = &fold->lines;
	if (budget) {
		fold->f.full = tree_to_lines;
		fold->f.budget = budget / 4;
		fold->f.context = fold;
	}
}

static enum status load_operands(struct fold *fold, char **operands)
{
	enum status status = STATUS_OK;

	for (; *operands; operands++) {
		struct loaded l = { 0 };
		enum status s = operand_load(&fold->f, *operands, &fold->p, 0, &l);

		status = s > status ? s : status;
		fold->good += l.good;
		warn_losses(*operands, &l);
		if (fold->f.full && profile_bytes(&fold->p) > fold->f.budget)
			tree_to_lines(&fold->p, fold);
	}
	operands_report(&fold->f);
	return status;
}

static void print_rows(struct fold *fold)
{
	struct slice_rows w;
	struct slice bytes;

	if (fold->s.format != ROWS_TSV && !json_known())
		cli_usage("-o ndjson and json are not available: built without jansson");
	if (!slice_rows_init(&w, fold->s.format, &fold->p, &fold->origins, fold->f.view.moment_ns))
		cli_no_memory();
	while (slice_rows_next(&w, &bytes) && fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n)
		;
	if (slice_rows_failed(&w))
		cli_no_memory();
	cli_stdout_done();
	slice_rows_release(&w);
}

static void print_fold(struct fold *fold)
{
	if (fold->s.as_rows) {
		print_rows(fold);
		return;
	}
	if (!fold->lines.total && !fold->s.tab) { /* everything is in the tree */
		folded_print(&fold->p, 1);
		cli_stdout_done();
		return;
	}
	if (!folded_pour(&fold->lines, &fold->p))
		operand_lines_died(&fold->lines, "");
	print_lines(fold);
}

/* Refuses options that transform stacks, which would leave them unsorted, or that need captures. */
static void check_sorted(const struct fold *fold)
{
	const char *option = operand_needs_capture(&fold->f);

	if (transform_asked(&fold->f.shape))
		cli_usage("--sorted and options that change or select stacks, like --norm and --match, are mutually exclusive");
	if (fold->f.view.n_keys)
		cli_usage("--sorted and --by are mutually exclusive");
	if (option)
		cli_usage("--sorted merges folded text: %s requires a capture", option);
}

static void check_fold(struct fold *fold)
{
	const struct settings *s = &fold->s;

	filters_check(&fold->f);
	if (s->as_rows && (s->sorted || s->tab || s->line_max || s->budget))
		cli_usage("-o and %s are mutually exclusive", s->sorted     ? "--sorted"
							      : s->tab      ? "-T"
							      : s->line_max ? "--max-line"
									    : "--max-mem");
	if (s->as_rows && fold->f.view.blame)
		cli_usage("-o and %s are mutually exclusive", filters_blame(&fold->f));
	if (s->interval && !s->as_rows)
		cli_usage("--interval requires -o tsv, ndjson or json");
	if (s->sorted)
		check_sorted(fold);
}

static enum status sorted_done(struct sorted *s, const char *operand)
{
	enum status status = s->scan.bad ? STATUS_DAMAGED : STATUS_OK, closed = operand_close(s->scan.fd);

	status = closed > status ? closed : status;
	if (s->scan.bad && closed == STATUS_OK)
		operand_warn_bad(operand_name(operand), &s->scan);
	if (folded_scan_two_columns(&s->scan)) {
		cli_warn("%s: each line has two counts: this is a comparison, not one profile",
			 operand_name(operand));
		status = STATUS_DAMAGED;
	}
	sorted_release(s);
	return status;
}

/* Reports why merging failed, and exits. error: errno of a system failure. */
static void merge_died(const struct sorted *sources, char **operands, size_t n, int error)
{
	for (size_t i = 0; i < n; i++) {
		if (sources[i].unsorted)
			cli_die(STATUS_DAMAGED, "%s: line %" PRIu64 ": stacks are not sorted by their bytes; see --sorted in "
				"cprof-fold(1)", operand_name(operands[i]), sources[i].scan.lines);
		if (sources[i].error)
			cli_die(STATUS_SYSTEM, "%s: %s", operand_name(operands[i]),
				strerror(sources[i].error));
	}
	cli_die(STATUS_SYSTEM, "%s", strerror(error));
}

static bool open_sorted(const struct fold *fold, struct sorted *s, const char *operand, uint64_t *claimed)
{
	uint8_t start[BLOCK_HEAD];
	int fd = operand_open(operand);
	struct slice taken = { start, 0 };

	taken.n = operand_peek(fd, operand_name(operand), start, sizeof(start), sizeof(start));
	if (taken.n == sizeof(start) && memcmp(start, BLOCK_SYNC, BLOCK_SYNC_BYTES) == 0)
		cli_die(STATUS_USAGE, "%s: --sorted requires folded text, not a capture: fold it first",
			operand_name(operand));
	return sorted_init(s, fd, taken, fold->p.stack_max, claimed);
}

/* Merges sorted texts with no more than one line of each in memory. */
static enum status fold_sorted(const struct fold *fold, char **operands, size_t n)
{
	struct sorted *sources = calloc(n, sizeof(*sources));
	struct output o = { .tab = fold->s.tab };
	enum status status = STATUS_OK;
	struct merge m = { 0 };
	struct slice stack;
	uint64_t count, claimed = 0;
	int got, error;

	for (size_t i = 0; i < n; i++) {
		if (!sources || !open_sorted(fold, &sources[i], operands[i], &claimed) ||
		    !merge_add(&m, &sources[i].source))
			cli_no_memory();
		sources[i].roots = fold->f.comms;
		sources[i].n_roots = fold->f.view.n_comms;
	}
	while ((got = merge_next(&m, &stack, &count)) > 0 && put_line(&o, stack, count))
		;
	error = errno;
	output_done(&o);
	if (got < 0)
		merge_died(sources, operands, n, error);
	for (size_t i = 0; i < n; i++) {
		enum status s = sorted_done(&sources[i], operands[i]);

		status = s > status ? s : status;
	}
	merge_release(&m);
	free(sources);
	return status;
}

static enum status fold_any(struct fold *fold, char **operands)
{
	enum status status = load_operands(fold, operands);

	filters_shape(&fold->f, &fold->p);
	if (!fold->good)
		status = STATUS_DAMAGED;
	else if (status == STATUS_OK && !fold->p.total[0] && !fold->lines.total)
		filters_warn_none(&fold->f, "nothing is written");
	print_fold(fold);
	return status;
}

int main(int argc, char **argv)
{
	struct fold fold = { .f.names = true,
			     .f.hints = true,
			     .f.has_latency = true };
	char **operands;
	size_t n = 0;
	enum status status;
	int c;

	cli_begin(&command);
	cli_keep_memory();
	while ((c = cli_option(argc, argv)) != -1) {
		if (!filters_option(&fold.f, c, optarg))
			take_option(&fold, c);
	}
	check_fold(&fold);
	result_open(argv + optind);
	begin_fold(&fold);
	operands = directory_operands(argv + optind, &fold.f.view);
	while (operands[n])
		n++;
	if (fold.s.sorted)
		status = fold_sorted(&fold, operands, n);
	else
		status = fold_any(&fold, operands);
	stack_sums_release(&fold.lines);
	origins_release(&fold.origins);
	profile_release(&fold.p);
	filters_release(&fold.f);
	return status;
}
