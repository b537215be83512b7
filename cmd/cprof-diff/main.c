/*
 * cprof-diff: shows what changed between captures or folded files, and which changes may be chance.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-diff/brief_diff.h"
#include "cmd/cprof-diff/diff.h"
#include "cmd/shared/facts/brief_facts.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/text_colour.h"

enum { DIFF_FOLDED = SIDES_END, DIFF_NO_NORMALIZE, DIFF_TRUNCATED, DIFF_SIGNIFICANT, DIFF_FAIL, DIFF_BEFORE,
       DIFF_AFTER, DIFF_BUDGET };
enum { ROWS = 20 };

static const struct option_row options[] = {
	{ OPTIONS_VIEW, FILTER_BY, "by", FILTER_BY_COMPARED, "one row for each of these" },
	{ OPTIONS_VIEW, DIFF_SIGNIFICANT, "significant", NULL, "only changes that are not chance" },
	{ OPTIONS_VIEW, DIFF_FAIL, "fail-above", "POINTS", "status 5 if a function grew by this, or more" },
	{ OPTIONS_VIEW, DIFF_NO_NORMALIZE, "no-normalize", NULL, "compare weights as they are, not shares" },
	{ OPTIONS_VIEW, 'n', "rows", "ROWS", "show this number of rows (20; 0: all)" },
	{ OPTIONS_VIEW, DIFF_BEFORE, "before", "FILE", "an operand of the first side" },
	{ OPTIONS_VIEW, DIFF_AFTER, "after", "FILE", "an operand of the second side" },
	{ OPTIONS_VIEW, DIFF_TRUNCATED, "truncated", NULL,
	  "a frame with the reason where stacks are truncated" },
	FILTER_ROWS_LATENCY,
	SIDES_ROWS,
	FILTER_NAMES_ROW,
	{ OPTIONS_OUTPUT, 'o', "output", "table|tsv|ndjson|json|md|FILE",
	  "table, rows for programs, brief, or a file" },
	{ OPTIONS_OUTPUT, DIFF_BUDGET, "budget", "BYTES", "length of the brief of -o md (4000)" },
	COLOUR_ROWS,
	{ OPTIONS_OUTPUT, DIFF_FOLDED, "folded", NULL, "stacks with two counts, for flamegraph.pl" },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-diff", "compare two profiles, and say which changes may be chance",
	"A B\nA... -- B...\n--before A... --after B...\n--split TIME A...", options,
};

static void set_format(struct diff_settings *s, const char *text)
{
	text = result_kind(text);
	s->program = strcmp(text, "table") != 0 && strcmp(text, "txt") != 0;
	s->md = strcmp(text, "md") == 0;
	if (s->program && !s->md && !rows_format_of(text, &s->format))
		cli_invalid("-o", text);
}

static void take_option(struct filters *f, struct diff_settings *s, int c)
{
	switch (c) {
	case DIFF_FOLDED:
		s->folded = true;
		break;
	case DIFF_NO_NORMALIZE:
		s->raw = true;
		break;
	case DIFF_SIGNIFICANT:
		s->significant = true;
		break;
	case DIFF_FAIL:
		s->fail_above = cli_percent("--fail-above", optarg);
		break;
	case DIFF_BUDGET:
		s->budget = brief_budget(optarg);
		break;
	case DIFF_TRUNCATED:
		f->view.truncated = true;
		break;
	case DIFF_BEFORE:
	case DIFF_AFTER:
		sides_add(&s->sides[c == DIFF_AFTER], optarg);
		break;
	case 'n':
		s->rows = (size_t)cli_number("-n", optarg, 0, INT32_MAX);
		s->has_rows = true;
		break;
	case 'o':
		set_format(s, optarg);
		break;
	case COLOUR_OPTION:
		colour_option(optarg);
		break;
	default:
		cli_other(c);
	}
}

/*
 * Assigns the operands to the sides: "A B"; or "A... -- B..."; or --before and --after. after: the number of
 * operands after "--".
 */
static void take_operands(struct diff_settings *s, char **names, size_t n, size_t after)
{
	struct side *sides = s->sides;

	if (!sides[0].n && !sides[1].n) {
		if (!sides_take(sides, names, n, after))
			cli_usage(SIDES_WANTED);
	} else if (n || !sides[0].n || !sides[1].n) {
		cli_usage("--before and --after require each other and take no operands");
	}
}

static void check_settings(const struct diff_settings *s)
{
	const char *tested = s->program ? "-o" : s->significant ? "--significant" : s->fail_above >= 0 ? "--fail-above" : NULL;

	if (s->budget && !s->md)
		cli_usage("--budget requires -o md");
	if (tested && (s->folded || s->raw))
		cli_usage("%s and %s are mutually exclusive", tested, s->folded ? "--folded" : "--no-normalize");
}

static enum status print_findings(struct diff_findings *o, struct diff_settings *s,
				  struct filters *f, char *const *arguments)
{
	enum status status;

	if (s->folded) {
		diff_print_folded(&o->p, s->raw);
		return STATUS_OK;
	}
	diff_compare(o, s);
	if (s->md)
		diff_print_brief(o, s, f, arguments);
	else if (s->program)
		diff_print_program(o, s->format, &f->view);
	else
		diff_print_table(o, s, f);
	status = sides_report_empty(s->sides, f, &o->p, s->fail_above >= 0);
	if (s->fail_above < 0)
		return STATUS_OK;
	return status ? status : diff_judge(o, s);
}

static void release_all(struct diff_findings *o, struct diff_settings *s, struct filters *f)
{
	changes_release(&o->changes);
	table_release(&o->table);
	profile_release(&o->p);
	filters_release(f);
	sides_release(s->sides);
}

int main(int argc, char **argv)
{
	struct diff_settings s = { .rows = ROWS, .fail_above = -1 };
	struct filters f = { .view.no_ids = true, .names = true, .has_latency = true };
	size_t after = sides_dashes(argc, argv);
	char **arguments = brief_arguments(argc, argv);
	struct diff_findings o = { 0 };
	enum status status;
	int c;

	cli_begin(&command);
	cli_keep_memory();
	while ((c = cli_option(argc, argv)) != -1) {
		if (!filters_option(&f, c, optarg) && !sides_option(s.sides, c, optarg))
			take_option(&f, &s, c);
	}
	f.joined = !s.folded;
	filters_check(&f);
	if (f.view.blame)
		cli_usage("%s is not available: it has no time slices to compare", filters_blame(&f));
	filters_keep_apart(&f);
	check_settings(&s);
	s.budget = s.budget ? s.budget : BRIEF_BUDGET;
	take_operands(&s, argv + optind, (size_t)(argc - optind), after);
	sides_open_result(s.sides);
	sides_settle(s.sides, &f.view);
	sides_name(s.sides);
	if (!profile_init(&o.p))
		cli_no_memory();
	if (!s.folded)
		f.view.moment_ns = CHANGES_SLICE_MS * 1000000;
	status = sides_load(s.sides, &f, &o.p, &o.setup, true);
	f.shape.by.stack_max = s.folded ? PROFILE_STACK_MAX : 0;
	filters_settle(&f, &o.p, PROFILE_SIDES, s.folded && !f.shape.by.asked ? PROFILE_STACK_MAX : 0);
	sides_join(s.sides, &f, &o.p);
	filters_shape(&f, &o.p);
	if (!sides_comparable(s.sides)) {
		status = STATUS_DAMAGED;
	} else {
		enum status verdict;

		sides_warn_order(s.sides);
		diff_warn(&o.p, s.sides, &f);
		verdict = print_findings(&o, &s, &f, arguments + 1);
		status = status ? status : verdict;
	}
	cli_stdout_done();
	release_all(&o, &s, &f);
	free(arguments);
	return status;
}
