/*
 * cprof-top: shows where the time went, as a table by function, module, process or thread; as callers and
 * callees; as whole stacks; or as a call tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-top/brief_top.h"
#include "cmd/cprof-top/live.h"
#include "cmd/cprof-top/lock_table.h"
#include "cmd/cprof-top/trend_view.h"
#include "cmd/cprof-top/views.h"
#include "cmd/cprof-top/what_if_view.h"
#include "cmd/shared/facts/captions.h"
#include "cmd/shared/facts/header.h"
#include "cmd/shared/facts/losses.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/blame/waker_rows.h"
#include "common/export/json.h"
#include "common/select/time_arg.h"

enum { TOP_CUM = FILTERS_END, TOP_TRUNCATED, TOP_CI, TOP_PEEK, TOP_STACKS, TOP_TREE, TOP_MIN_SHARE, TOP_DEPTH,
       TOP_BUDGET, TOP_EVERY, TOP_WHAT_IF, TOP_REQUESTS };
enum { ROWS = 20, LONGEST = 86400, EVERY_LEAST = 1000000 };

#define MIN_SHARE 0.5

static const struct option_row options[] = {
	{ OPTIONS_VIEW, FILTER_BY, "by", FILTER_BY_VALUES, "one row for each of these" },
	{ OPTIONS_VIEW, FILTER_BLAME, "blame", NULL, "continue long waits with their causes" },
	{ OPTIONS_VIEW, TOP_WHAT_IF, "what-if", "FUNCTION=-50%", "the elapsed time if it took less" },
	{ OPTIONS_VIEW, TOP_REQUESTS, "requests", "FUNCTION", "the time between waits in FUNCTION instead" },
	{ OPTIONS_VIEW, TOP_CUM, "cum", NULL, "sort by cum" },
	{ OPTIONS_VIEW, 's', "sort", "flat|cum", "the same, by name: sort by flat or cum (flat)" },
	{ OPTIONS_VIEW, TOP_CI, "ci", NULL, "95 % confidence intervals of the shares" },
	{ OPTIONS_VIEW, 'n', "rows", "ROWS", "show this number of rows (20; 0: all)" },
	{ OPTIONS_VIEW, TOP_EVERY, "every", "SPAN", "the trend: weights in intervals of time" },
	{ OPTIONS_VIEW, TOP_PEEK, "peek", "RE", "callers and callees of matching functions" },
	{ OPTIONS_VIEW, TOP_STACKS, "stacks", "N", "the N heaviest whole stacks" },
	{ OPTIONS_VIEW, TOP_TREE, "tree", NULL, "the call tree" },
	{ OPTIONS_VIEW, TOP_MIN_SHARE, "min-share", "PERCENT", "combine lighter siblings of the tree (0.5)" },
	{ OPTIONS_VIEW, TOP_DEPTH, "depth", "N", "levels of the tree" },
	{ OPTIONS_VIEW, TOP_TRUNCATED, "truncated", NULL,
	  "a frame with the reason where stacks are truncated" },
	FILTER_ROWS_LATENCY,
	FILTER_NAMES_ROW,
	{ OPTIONS_OUTPUT, 'o', "output", "tsv|ndjson|json|md|FILE", "rows for programs, a brief, or a file" },
	{ OPTIONS_OUTPUT, TOP_BUDGET, "budget", "BYTES", "length of the brief of -o md (4000)" },
	{ OPTIONS_OUTPUT, 'w', "watch", "SECONDS", "follow a recording: show the last SECONDS" },
	{ OPTIONS_OUTPUT, 'v', "verbose", NULL, "list all files without names" },
	COLOUR_ROWS,
	{ OPTIONS_OTHER, 'g', "call-graph", "[=WAY]", NULL },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-top", "show where the time went, as a table", "[FILE ...]", options,
};

struct settings {
	struct views views;
	regex_t peek;
	const char *peek_text;
	const char *shape;  /* the option that set the shape */
	const char *branch; /* an option given that is only for --tree */
	double share;       /* part of the weight that --match and the like leave */
	bool has_format, md;
	struct brief_request brief; /* budget 0: not given */
	struct what_if what_if;	    /* without a function: not asked */
	char *question;		    /* the argument of --what-if, to which it points */
	enum rows_format format;
	unsigned int seconds; /* 0: not live */
	struct origins origins; /* of --every */
	struct buf filters; /* the options that select samples, for the header */
};

static void set_shape(struct settings *s, const char *option, enum views_shape shape)
{
	if (s->shape)
		cli_usage("%s and %s are mutually exclusive", s->shape, option);
	s->shape = option;
	s->views.shape = shape;
}

static void set_peek(struct settings *s, const char *text)
{
	char why[200];
	int wrong;

	set_shape(s, "--peek", SHAPE_PEEK);
	s->peek_text = text;
	wrong = regcomp(&s->peek, text, REG_EXTENDED | REG_NOSUB);
	if (wrong) {
		regerror(wrong, &s->peek, why, sizeof(why));
		cli_usage("invalid --peek \"%s\": %s", text, why);
	}
	s->views.peek = &s->peek;
}

static void set_every(struct settings *s, const char *text)
{
	struct time_arg span;

	set_shape(s, "--every", SHAPE_TREND);
	if (!time_arg_parse(&span, text, 0, 0) || span.kind != TIME_ARG_OFFSET || span.ns < EVERY_LEAST)
		cli_usage("invalid --every \"%s\" (expected a span, like 10s, 1m or 1h)", text);
	s->views.every = (uint64_t)span.ns;
}

static void set_format(struct settings *s, const char *text)
{
	text = result_kind(text);
	if (strcmp(text, "txt") == 0)
		return;
	s->has_format = true;
	s->md = strcmp(text, "md") == 0;
	if (s->md)
		return;
	if (!rows_format_of(text, &s->format))
		cli_invalid("-o", text);
	if (s->format != ROWS_TSV && !json_known())
		cli_usage("-o ndjson and json are not available: built without jansson");
}

/* Notes an option that selects samples, as it was given: the header describes the whole recording. */
static void note_selection(struct settings *s, int c)
{
	const struct option_row *o = options;

	while (o->value != c)
		o++;
	if (o->group == OPTIONS_SELECT && c != FILTER_WALL && c != FILTER_WEIGHT)
		captions_note(&s->filters, o, optarg);
}

/* Handles the options that choose the view. Returns false for any other option. */
static bool take_view(struct settings *s, int c)
{
	switch (c) {
	case TOP_CUM:
		s->views.cum = true;
		return true;
	case 's':
		s->views.cum = strcmp(optarg, "cum") == 0;
		if (!s->views.cum && strcmp(optarg, "flat") != 0)
			cli_invalid("--sort", optarg);
		return true;
	case TOP_CI:
		s->views.intervals = true;
		return true;
	case TOP_PEEK:
		set_peek(s, optarg);
		return true;
	case TOP_STACKS:
		set_shape(s, "--stacks", SHAPE_STACKS);
		s->views.rows = (size_t)cli_number("--stacks", optarg, 0, INT32_MAX);
		return true;
	case TOP_EVERY:
		set_every(s, optarg);
		return true;
	case TOP_TREE:
		set_shape(s, "--tree", SHAPE_TREE);
		return true;
	case TOP_MIN_SHARE:
		s->branch = "--min-share";
		s->views.min_share = cli_percent("--min-share", optarg);
		return true;
	case TOP_DEPTH:
		s->branch = "--depth";
		s->views.depth = (uint32_t)cli_number("--depth", optarg, 1, INT32_MAX);
		return true;
	default:
		return false;
	}
}

static void take_option(struct filters *f, struct settings *s, int c)
{
	switch (c) {
	case TOP_TRUNCATED:
		f->view.truncated = true;
		break;
	case TOP_WHAT_IF:
		free(s->question);
		s->question = strdup(optarg); /* a brief shows the argument as it was */
		if (!s->question)
			cli_no_memory();
		what_if_parse(&s->what_if, s->question);
		filters_replay(f, &s->what_if);
		break;
	case TOP_REQUESTS:
		s->what_if.requests = optarg;
		break;
	case 'n':
		s->views.rows = (size_t)cli_number("-n", optarg, 0, INT32_MAX);
		s->views.rows_asked = true;
		break;
	case 'o':
		set_format(s, optarg);
		break;
	case TOP_BUDGET:
		s->brief.budget = brief_budget(optarg);
		break;
	case 'w':
		s->seconds = (unsigned int)cli_number("-w", optarg, 1, LONGEST);
		break;
	case 'v':
		s->views.verbose = s->views.modules = true;
		break;
	case COLOUR_OPTION:
		colour_option(optarg);
		break;
	case 'g': /* perf report has it */
		cli_usage("invalid option \"-g\" (expected --tree for the call tree, --peek for callers and "
			  "callees)");
	default:
		cli_other(c);
	}
}

/* Rows are processes or threads, of which nothing else is shown. */
static void check_what_if(const struct settings *s, const struct filters *f)
{
	const struct view *v = &f->view;
	const char *other = s->shape		       ? s->shape
			    : s->views.cum	       ? "--cum"
			    : transform_asked(&f->shape) ? "an option that changes or selects stacks"
						       : NULL;

	if (other)
		cli_usage("--what-if and %s are mutually exclusive", other);
	if (v->n_keys > 1 || (v->n_keys && v->keys[0].by != BY_PROCESS && v->keys[0].by != BY_THREAD))
		cli_usage("--what-if requires --by process or thread");
}

static void check_top(const struct settings *s, const struct filters *f)
{
	const struct view *v = &f->view;
	enum views_shape shape = s->views.shape;

	if (s->branch && shape != SHAPE_TREE)
		cli_usage("%s requires --tree", s->branch);
	if (s->views.intervals && shape != SHAPE_TABLE)
		cli_usage("--ci and %s are mutually exclusive", s->shape);
	if ((s->views.rows_asked || s->views.cum) && (shape == SHAPE_STACKS || shape == SHAPE_TREE))
		cli_usage("%s and %s are mutually exclusive", s->views.rows_asked ? "-n" : "--cum", s->shape);
	if (shape != SHAPE_TABLE && shape != SHAPE_TREND && !view_frame_keys(v))
		cli_usage("%s requires --by function, module or language: the others have no stacks",
			  s->shape);
	if (shape == SHAPE_PEEK && (view_roots(v) || view_has_key(v, BY_SYSCALL)))
		cli_usage("--peek requires --by function, module or language alone");
	if (s->md && shape != SHAPE_TABLE && shape != SHAPE_TREND)
		cli_usage("-o md and %s are mutually exclusive", s->shape);
	if (s->brief.budget && !s->md)
		cli_usage("--budget requires -o md");
	if (f->view.blame && s->seconds)
		cli_usage("-w and %s are mutually exclusive", filters_blame(f));
	if (f->view.blame && f->view.blame != BLAME_CULPRITS && s->views.intervals)
		cli_usage("--ci and %s are mutually exclusive", filters_blame(f));
	if (f->view.latency && s->views.intervals)
		cli_usage("--ci and --weight latency are mutually exclusive");
	if (shape == SHAPE_TREND && (v->blame || v->latency || s->seconds))
		cli_usage("--every and %s are mutually exclusive",
			  s->seconds ? "-w" : v->blame ? filters_blame(f) : "--weight latency");
	if (s->what_if.requests && !s->what_if.function)
		cli_usage("--requests requires --what-if");
	if (s->what_if.function)
		check_what_if(s, f);
	if (s->has_format && s->seconds)
		cli_usage("-o and -w are mutually exclusive");
}

/* Rows have no header, so losses are reported on stderr. */
static void warn_losses(const struct loaded *l)
{
	struct buf lost = { 0 };

	losses_print(&lost, &l->totals);
	if (lost.n)
		cli_warn("%s", buf_cstr(&lost));
	buf_release(&lost);
}

static void print_top(struct settings *s, struct reasons *reasons, struct reasons *states, const struct loaded *l)
{
	struct header_want want = { s->views.view, s->views.verbose, false, s->share, reasons, states,
				    buf_cstr(&s->filters) };
	struct lock_sums *locks = s->views.view->locks;
	struct header h = { 0 };
	struct buf out = { 0 };

	if (locks)
		lock_sums_sort(locks);
	if (locks && s->has_format && !s->md && !s->views.rows_asked)
		s->views.rows = 0;
	if (s->md) {
		brief_top(&s->views, l, &s->brief, &out);
	} else if (s->has_format) {
		if (s->format != ROWS_JSON)
			warn_losses(l);
		views_rows(&s->views, s->format, l, &out);
	} else {
		reasons_sort(reasons);
		reasons_sort(states);
		header_make(&h, l, &want);
		header_print(&h, &out);
		header_release(&h);
		s->views.colour = colour_on();
		if (locks)
			lock_table_text(locks, s->views.rows, &out);
		else
			(s->views.shape == SHAPE_TREND ? trend_text : views_text)(&s->views, &out);
	}
	fwrite(out.p, 1, out.n, stdout);
	buf_release(&out);
	cli_stdout_done();
}

static enum status load_captures(struct settings *s, struct filters *f, char **operands, struct profile *p,
				 struct loaded *l)
{
	enum status status = STATUS_OK, one;

	operands = directory_operands(operands, &f->view);
	if (s->seconds && operands[1])
		cli_usage("-w takes one capture");
	for (; *operands; operands++) {
		if (s->seconds)
			one = live_load(f, *operands, p, l, &s->views, s->seconds, !s->views.rows_asked);
		else
			one = operand_load(f, *operands, p, 0, l);
		status = one > status ? one : status;
	}
	operands_report(f);
	operands_hint_time(f, l, p, 0);
	return status;
}

/* Applies --match and the like, and estimates the number of samples left. */
static void match_samples(struct settings *s, struct filters *f, struct profile *p, const struct loaded *l)
{
	double all = (double)p->total[0];

	if (s->views.intervals && f->view.weight != WEIGHT_SAMPLES && l->texts)
		cli_die(STATUS_USAGE, "--ci is not available: folded text does not give the number of samples for its counts");
	if (l->texts && l->streams)
		keys_forget_modules(f);
	filters_shape(f, p);
	s->share = s->brief.share = all > 0 ? (double)p->total[0] / all : 1;
	s->brief.filters = buf_cstr(&s->filters);
	s->views.samples = s->share * (f->view.blame == BLAME_CULPRITS ? l->hits : (double)l->sums.samples);
}

/* Warns if no function matches --peek. */
static void warn_unmatched(const struct settings *s, const struct profile *p)
{
	const struct present_asked asked = { "--peek", s->peek_text, &s->peek };
	struct views named = s->views;
	struct view_names names;
	struct buf there = { 0 };
	struct table t;

	view_names_init(&names, p, s->views.view, s->views.modules);
	named.names = &names;
	views_table(&named, &t);
	if (t.n == 0) {
		uint64_t *weights = present_weights(p);

		present_functions(p, weights, &asked, &there);
		cli_warn("no functions selected, the table is empty%s", there.n ? buf_cstr(&there) : "");
		free(weights);
	}
	buf_release(&there);
	table_release(&t);
	view_names_release(&names);
}

/* Moments of the intervals, aligned to the clock, over which waits are spread. */
static void begin_trend(struct settings *s, struct view *v)
{
	origins_init(&s->origins);
	s->origins.threads = s->origins.aligned = true;
	s->views.origins = v->origins = &s->origins;
	v->moment_ns = s->views.every;
}

static void print_what_if(const struct settings *s, const struct loaded *l, enum status status)
{
	const struct what_if *w = &s->what_if;
	struct buf out = { 0 };

	if (!w->samples)
		cli_die(status ? status : STATUS_SYSTEM,
			"cannot find the function \"%s\": no sample has it while it runs, and only running time "
			"can be shortened",
			w->function);
	if (w->requests && !w->n)
		cli_die(status ? status : STATUS_SYSTEM,
			"cannot find requests: no selected thread had two long waits in \"%s\"", w->requests);
	if (s->md)
		brief_top(&s->views, l, &s->brief, &out);
	else if (s->has_format)
		what_if_rows(w, s->views.rows, s->format, &out);
	else
		what_if_text(w, s->views.rows, &out);
	fwrite(out.p, 1, out.n, stdout);
	buf_release(&out);
	cli_stdout_done();
}

/* Checks the options together, and derives settings from them. */
static void settle_options(struct settings *s, struct filters *f)
{
	f->joined = s->views.shape == SHAPE_TABLE || s->views.shape == SHAPE_TREND;
	f->tells_modules = true;
	filters_check(f);
	check_top(s, f);
	f->cpu_beside = s->views.cpu = f->view.latency && !s->seconds && s->views.shape == SHAPE_TABLE;
	s->what_if.by_thread = f->view.n_keys && f->view.keys[0].by == BY_THREAD;
	s->brief.budget = s->brief.budget ? s->brief.budget : BRIEF_BUDGET;
}

static void read_options(struct filters *f, struct settings *s, int argc, char **argv)
{
	int c;

	while ((c = cli_option(argc, argv)) != -1) {
		if (filters_option(f, c, optarg))
			note_selection(s, c);
		else if (!take_view(s, c))
			take_option(f, s, c);
	}
	settle_options(s, f);
}

int main(int argc, char **argv)
{
	struct settings s = { .views = { .rows = ROWS, .min_share = MIN_SHARE } };
	struct filters f = { .names = true, .hints = true, .has_latency = true };
	struct loaded l = { 0 };
	struct waker_rows wakers = { 0 };
	struct reasons reasons, states;
	struct lock_sums locks;
	enum status status;
	struct profile p;
	char **arguments;

	cli_begin(&command);
	cli_keep_memory();
	arguments = brief_arguments(argc, argv);
	read_options(&f, &s, argc, argv);
	result_open(argv + optind);
	s.brief.arguments = arguments + 1;
	filters_keep_apart(&f);
	reasons_init(&reasons);
	reasons_init(&states);
	f.view.reasons = &reasons;
	f.view.states = &states;
	lock_sums_init(&locks);
	f.view.locks = f.view.blame == BLAME_LOCKS ? &locks : NULL;
	if (f.view.blame == BLAME_WAKERS && !f.shape.norm) /* its names are looked up again */
		f.view.wakers = &wakers;
	s.views.view = &f.view;
	s.views.intervals |= f.view.blame == BLAME_CULPRITS && s.views.shape == SHAPE_TABLE && !s.md;
	s.views.profile = &p;
	if (s.views.every)
		begin_trend(&s, &f.view);
	if (!profile_init(&p))
		cli_no_memory();
	status = load_captures(&s, &f, argv + optind, &p, &l);
	if (s.views.every && l.texts)
		cli_die(STATUS_USAGE, "--every requires captures: folded text has no time");
	filters_settle(&f, &p, 1, 0);
	match_samples(&s, &f, &p, &l);
	if (l.good && status == STATUS_OK && !p.total[0] && !s.seconds && !s.what_if.function)
		filters_warn_none(&f, "the table is empty");
	else if (l.good && s.views.shape == SHAPE_PEEK && p.total[0])
		warn_unmatched(&s, &p);
	if (l.good && s.what_if.function)
		print_what_if(&s, &l, status);
	else if (l.good)
		print_top(&s, &reasons, &states, &l);
	else
		status = STATUS_DAMAGED;
	what_if_release(&s.what_if);
	buf_release(&s.filters);
	free(s.question);
	profile_release(&p);
	reasons_release(&reasons);
	reasons_release(&states);
	lock_sums_release(&locks);
	origins_release(&s.origins);
	waker_rows_release(&wakers);
	filters_release(&f);
	free(arguments);
	if (s.views.peek)
		regfree(&s.peek);
	return status;
}
