/*
 * cprof-flame: draws a flame graph of captures and folded text: a self-contained page or a static picture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cprof-flame/flame.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/line_input.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/terminal/progress.h"

static const struct option_row options[] = {
	{ OPTIONS_VIEW, FILTER_BY, "by", FILTER_BY_VALUES, "boxes of these instead of functions" },
	{ OPTIONS_VIEW, FILTER_BLAME, "blame", NULL, "continue long waits with their causes" },
	{ OPTIONS_VIEW, FLAME_DIFF, "diff", NULL, "compare two sides, before and after" },
	{ OPTIONS_VIEW, FLAME_NEGATE, "negate", NULL, "compare after and before" },
	{ OPTIONS_VIEW, FLAME_HEATMAP, "heatmap", NULL, "show when samples were taken" },
	{ OPTIONS_VIEW, FLAME_SLICE, "slice", "MILLISECONDS", "shortest slice of the heat map (20)" },
	{ OPTIONS_VIEW, FLAME_LANES, "lanes", "thread|process|container|cpu|none",
	  "lanes below the heat map (thread)" },
	{ OPTIONS_VIEW, FILTER_REVERSE, "reverse", NULL, "begin stacks with the innermost frame" },
	{ OPTIONS_VIEW, FLAME_INVERTED, "inverted", NULL, "put the root at the top" },
	{ OPTIONS_VIEW, FLAME_SEARCH, "search", "RE", "search when the page opens" },
	{ OPTIONS_VIEW, FLAME_TRUNCATED, "truncated", NULL,
	  "a frame with the reason where stacks are truncated" },
	{ OPTIONS_VIEW, FLAME_SOURCE, "source", NULL, "source lines of functions, in a panel of the page" },
	{ OPTIONS_FILES, FLAME_SOURCE_DIR, "source-dir", "DIR", "look for sources in DIR first" },
	FILTER_ROWS_LATENCY,
	SIDES_ROWS,
	FILTER_NAMES_ROW,
	{ OPTIONS_LOOKS, FLAME_TITLE, "title", "TEXT", "title" },
	{ OPTIONS_LOOKS, FLAME_SUBTITLE, "subtitle", "TEXT", "second line of the title" },
	{ OPTIONS_LOOKS, FLAME_NOTES, "notes", "TEXT", "a line of the ledger" },
	{ OPTIONS_LOOKS, FLAME_WIDTH, "width", "PIXELS", "width of the picture (1200)" },
	{ OPTIONS_LOOKS, FLAME_HEIGHT, "height", "PIXELS", "height of a level" },
	{ OPTIONS_LOOKS, FLAME_MINWIDTH, "minwidth", "PIXELS", "draw narrower boxes together (0.1%)" },
	{ OPTIONS_LOOKS, FLAME_FONTTYPE, "fonttype", "NAME", "font, as CSS names it" },
	{ OPTIONS_LOOKS, FLAME_FONTSIZE, "fontsize", "PIXELS", "font size" },
	{ OPTIONS_LOOKS, FLAME_COUNTNAME, "countname", "TEXT", "name of the counted unit (samples)" },
	{ OPTIONS_LOOKS, FLAME_NAMETYPE, "nametype", "TEXT", "text before names in tooltips" },
	{ OPTIONS_LOOKS, FLAME_COLORS, "colors", "NAME", "colours: kind, hot, red, blue, grey, ..." },
	{ OPTIONS_LOOKS, FLAME_COLORS, "color", "NAME", "the same as --colors" },
	{ OPTIONS_LOOKS, FLAME_BGCOLORS, "bgcolors", "COLOR",
	  "background: yellow, blue, green, grey, #f8f8f8" },
	{ OPTIONS_LOOKS, FLAME_HASH, "hash", NULL, "no effect: colours always depend on the name" },
	{ OPTIONS_OUTPUT, 'o', "output", "html|svg|FILE", "the page, a picture, or a file of either" },
	CLI_ROWS,
	{ 0 },
};

static const struct command_line command = {
	"cprof-flame", "draw a flame graph",
	"[FILE ...]\n--diff A... -- B...\n--diff --split TIME A...", options,
};

static const struct option_row *option_row(int c)
{
	const struct option_row *o = options;

	while (o->value != c)
		o++;
	return o;
}

static const char *option_name(int c)
{
	return option_row(c)->name;
}

static void take_lanes(struct flame_settings *s, const char *text)
{
	static const char *const modes[] = { "thread", "process", "container", "cpu", "none" };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(text, modes[i]) == 0) {
			picture_option(&s->pic, "lanes", text);
			s->lanes = text;
			return;
		}
	}
	cli_usage("invalid --lanes \"%s\" (expected thread, process, container, cpu or none)", text);
}

static void take_option(struct filters *f, struct flame_settings *s, int c)
{
	if (c >= FLAME_LOOKS && c < FLAME_INVERTED) {
		flame_take_look(s, c, option_name(c), optarg);
		return;
	}
	switch (c) {
	case FLAME_DIFF:
		s->diff = true;
		break;
	case FLAME_NEGATE:
		s->negate = true;
		break;
	case FLAME_HEATMAP:
		s->heatmap = true;
		break;
	case FLAME_SLICE:
		s->slice_ms = cli_number("--slice", optarg, 1, 1000);
		if (1000 % s->slice_ms)
			cli_usage("invalid --slice \"%" PRIu64 "\" (expected a number of ms that divides a second)", s->slice_ms);
		break;
	case FLAME_LANES:
		take_lanes(s, optarg);
		break;
	case FLAME_INVERTED:
		s->pic.inverted = true;
		break;
	case FLAME_HASH: /* colours always depend on the name */
		break;
	case FLAME_TRUNCATED:
		f->view.truncated = true;
		break;
	case FLAME_SOURCE:
		s->source = true;
		break;
	case FLAME_SOURCE_DIR:
		if (s->n_source_dirs == SOURCE_DIRS_MOST)
			cli_usage("--source-dir can be given %d times", SOURCE_DIRS_MOST);
		s->source_dirs[s->n_source_dirs++] = cli_directory("--source-dir", optarg);
		break;
	case 'o':
		optarg = (char *)result_kind(optarg);
		s->svg = strcmp(optarg, "svg") == 0;
		if (strcmp(optarg, "txt") == 0)
			cli_invalid("-o", "txt");
		break;
	default:
		cli_other(c);
	}
}

/* Checks --search. A picture is searched here; a page searches in JavaScript, whose expressions differ. */
static void check_search(struct flame_settings *s)
{
	const char *text = picture_get(&s->pic, "search"), *why = NULL;

	if (text && *text)
		why = s->svg ? search_init(&s->search, text) : search_broken(text);
	if (why)
		cli_usage("invalid --search \"%s\": %s", text, why);
}

/* Assigns the operands of --diff to its sides. A single one can be text with the counts of both. */
static void take_sides(struct flame_settings *s, const struct filters *f, char **names, size_t n)
{
	const char *window = sides_window_option(s->sides);

	if (window && !s->diff)
		cli_usage("%s requires --diff", window);
	if (s->diff && (n > 1 || window) && !sides_take(s->sides, names, n, s->after))
		cli_usage("--diff: " SIDES_WANTED);
	if (s->sides[0].n)
		sides_settle(s->sides, &f->view);
}

/* A picture of threads alone, say, has one row of boxes for each key. */
static void warn_no_stacks(const struct view *v)
{
	struct buf keys = { 0 };

	if (view_frame_keys(v) || view_has_key(v, BY_SYSCALL))
		return;
	for (size_t i = 0; i < v->n_keys; i++)
		buf_printf(&keys, "%s%s", i ? "," : "", keys_name(v, i));
	if (keys.failed)
		cli_no_memory();
	cli_warn("--by %s draws no stacks, as --by %s,function does", buf_cstr(&keys), buf_cstr(&keys));
	buf_release(&keys);
}

static void check_flame(struct flame_settings *s, struct filters *f, char **names, int operands)
{
	filters_check(f);
	check_search(s);
	if (s->slice_ms && !s->heatmap)
		cli_usage("--slice requires --heatmap");
	if (s->lanes && !s->heatmap)
		cli_usage("--lanes requires --heatmap");
	take_sides(s, f, names, (size_t)operands);
	if (s->negate && !s->diff)
		cli_usage("--negate requires --diff");
	if (s->n_source_dirs && !s->source)
		cli_usage("--source-dir requires --source");
	if (s->source && (s->svg || s->diff))
		cli_usage("--source and %s are mutually exclusive", s->svg ? "-o svg" : "--diff");
	if (s->source && f->view.latency)
		cli_usage("--source and --weight latency are mutually exclusive");
	if (s->heatmap && s->svg)
		cli_usage("--heatmap and -o svg are mutually exclusive");
	if (s->heatmap && s->diff)
		cli_usage("--heatmap and --diff are mutually exclusive");
	if (f->view.blame && (s->diff || s->heatmap))
		cli_usage("%s and %s are mutually exclusive", s->diff ? "--diff" : "--heatmap",
			  filters_blame(f));
	if (s->heatmap && f->shape.reverse)
		cli_usage("--heatmap and --reverse are mutually exclusive; the page has a button");
	if (!s->heatmap && !f->view.blame)
		warn_no_stacks(&f->view);
}

/* Reads both sides of --diff and names them. */
static enum status load_sides(struct filters *f, struct flame_settings *s, struct profile *p,
			      struct loaded *loaded)
{
	enum status status;
	bool timed;

	if (s->negate) {
		struct side first = s->sides[0];

		s->sides[0] = s->sides[1];
		s->sides[1] = first;
	}
	sides_name(s->sides);
	f->columns = COLUMNS_ONE;
	status = sides_load(s->sides, f, p, &s->setup, false);
	sides_warn_order(s->sides);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		s->pic.names[side] = s->sides[side].title;
		loaded[side] = s->sides[side].loaded;
	}
	timed = operands_count_time(&loaded[0], p, 0);
	operands_hint_time(f, &loaded[!timed], p, !timed); /* once for both sides */
	s->pic.sides = PROFILE_SIDES;
	return status;
}

/* Reads operands that are no sides: one profile, or text with the counts of both sides. */
static enum status load_profile(struct filters *f, struct flame_settings *s, char **operands,
				struct profile *p, struct loaded *loaded)
{
	unsigned int side = s->negate;
	enum status status = STATUS_OK;

	f->columns = operands[1] ? COLUMNS_ONE : s->diff ? COLUMNS_TWO : COLUMNS_GUESSED;
	for (; *operands; operands++) {
		enum status got = operand_load(f, *operands, p, side, &loaded[side]);

		status = got > status ? got : status;
	}
	operands_report(f);
	operands_hint_time(f, &loaded[side], p, side);
	if (s->diff && loaded[side].streams)
		cli_usage("--diff: " SIDES_WANTED);
	s->pic.sides = f->columns == COLUMNS_TWO ? PROFILE_SIDES : 1;
	if (s->pic.sides == 1)
		return status;
	s->pic.names[side] = "before";
	s->pic.names[!side] = "after";
	loaded[!side] = loaded[side];
	return status;
}

/* Puts the sources of the functions into the picture. Folded text has none. */
static void add_sources(struct flame_settings *s, const struct filters *f, struct line_input *in)
{
	struct source_rules rules;
	struct line_sums sums;

	line_input_sum(in, f, &sums);
	if (!source_rules_init(&rules, s->source_dirs, s->n_source_dirs, NULL, true))
		cli_die(STATUS_SYSTEM, "cannot open %s: %m", rules.failed);
	if (!source_block_append(&s->sources, &sums, &rules))
		cli_no_memory();
	s->pic.sources = buf_view(&s->sources);
	source_rules_release(&rules);
	line_sums_release(&sums);
	line_input_end(in);
}

/* Returns whether there is something to draw. One side of two may be empty. */
static bool is_drawable(const struct flame_settings *s, const struct loaded *sides)
{
	if (s->sides[0].n)
		return sides_comparable(s->sides);
	return sides[0].good;
}

static void release_settings(struct flame_settings *s)
{
	for (size_t i = 0; i < sizeof(s->texts) / sizeof(s->texts[0]); i++)
		free(s->texts[i]);
	sides_release(s->sides);
	captions_release(&s->captions);
	search_release(&s->search);
	origins_release(&s->origins);
	buf_release(&s->sources);
	picture_release(&s->pic);
}

int main(int argc, char **argv)
{
	struct flame_settings s = { .pic.look = LOOK_DEFAULT, .after = sides_dashes(argc, argv) };
	struct loaded sides[PROFILE_SIDES] = { 0 };
	struct filters f = { .view.annotate = true, .names = true, .hints = true, .has_latency = true };
	struct symbol_files files = { 0 };
	char *no_operands[] = { NULL }, **operands;
	struct line_input lines;
	enum status status;
	struct profile p;
	int c;

	cli_begin(&command);
	cli_keep_memory();
	while ((c = cli_option(argc, argv)) != -1) {
		if (!filters_option(&f, c, optarg) && !sides_option(s.sides, c, optarg))
			take_option(&f, &s, c);
		else if (c != FILTER_NO_NAMES)
			captions_note(&s.captions.filters, option_row(c), optarg);
	}
	f.tells_modules = !s.diff && view_frame_keys(&f.view) == 1u << BY_FUNCTION;
	s.over_time = directory_given(argv + optind) && !s.svg && !s.diff && !f.view.blame && !f.shape.reverse;
	s.heatmap = s.heatmap || s.over_time;
	check_flame(&s, &f, argv + optind, argc - optind);
	result_open(argv + optind);
	if (!s.svg)
		cli_refuse_terminal("a page is for a browser");
	filters_keep_apart(&f);
	operands = directory_operands(s.sides[0].n ? no_operands : argv + optind, &f.view);
	flame_begin_moments(&s, &f.view);
	if (!profile_init(&p))
		cli_no_memory();
	if (s.source) {
		line_input_begin(&lines, &f.view, &files);
		f.also = &lines.taker;
	}
	status = s.sides[0].n ? load_sides(&f, &s, &p, sides) :
				load_profile(&f, &s, operands, &p, sides);
	if (s.heatmap && sides[0].texts)
		cli_die(STATUS_USAGE, "--heatmap requires captures: folded text has no time");
	if (s.source)
		add_sources(&s, &f, &lines);
	if (!isatty(STDOUT_FILENO))
		progress_begin("drawing", -1);
	flame_finish_settings(&s, &f, &p, sides);
	if (!is_drawable(&s, sides)) {
		status = STATUS_DAMAGED;
	} else {
		if (status == STATUS_OK && !p.total[0] && !p.total[1])
			filters_warn_none(&f, "the picture is empty");
		else if (s.sides[0].n)
			sides_report_empty(s.sides, &f, &p, false);
		flame_draw(&s, &p, &f, sides);
	}
	profile_release(&p);
	filters_release(&f);
	release_settings(&s);
	return status;
}
