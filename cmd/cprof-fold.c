/*
 * cprof-fold: captures and folded text as folded text, each stack once.
 */
#include <errno.h>
#include <stdio.h>

#include "cmd/filters.h"
#include "common/profile/folded.h"

static const char usage[] = "cprof-fold [-adpt] [--container] [--truncated] [--reverse]\n       [--max-line BYTES] [--max-mem SIZE]\n       " FILTER_USAGE "\n       [FILE ...]";

enum { FOLD_CONTAINER = FILTERS_END, FOLD_TRUNCATED, FOLD_MAX_LINE, FOLD_MAX_MEM };
enum { LINE_LEAST = 256, LINE_MOST = SCAN_LINE_MAX, BUDGET_MIB = 256, OUTPUT = 256 << 10 };

static const struct option options[] = {
	FILTER_ROWS,
	{ "annotate", no_argument, NULL, 'a' },
	{ "delimiter", no_argument, NULL, 'd' },
	{ "with-pid", no_argument, NULL, 'p' },
	{ "with-tid", no_argument, NULL, 't' },
	{ "container", no_argument, NULL, FOLD_CONTAINER },
	{ "truncated", no_argument, NULL, FOLD_TRUNCATED },
	{ "max-line", required_argument, NULL, FOLD_MAX_LINE },
	{ "max-mem", required_argument, NULL, FOLD_MAX_MEM },
	{ "reverse", no_argument, NULL, FILTER_REVERSE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct settings {
	size_t line_max; /* 0: what the grammar has for everybody */
	size_t budget;
};

struct fold {
	struct filters f;
	struct settings s;
	struct profile p;   /* captures, and what is to be made over */
	struct lines lines; /* text that is only added up, and what the tree had no room for */
	uint64_t good;
};

static void take_option(struct fold *fold, int c)
{
	struct view *v = &fold->f.view;

	switch (c) {
	case 'a':
		v->annotate = true;
		break;
	case 'd':
		v->delimiter = true;
		break;
	case 'p':
		v->pid = true;
		break;
	case 't':
		v->tid = true;
		break;
	case FOLD_CONTAINER:
		v->container = true;
		break;
	case FOLD_TRUNCATED:
		v->truncated = true;
		break;
	case FOLD_MAX_LINE:
		fold->s.line_max = (size_t)cli_number("--max-line", optarg, LINE_LEAST, LINE_MOST);
		break;
	case FOLD_MAX_MEM:
		fold->s.budget = cli_size("--max-mem", optarg, 1, 1024);
		break;
	case 'h':
		cli_help();
	case 'V':
		cli_version();
	default:
		cli_usage(NULL);
	}
}

/* One line on stderr for an operand whose recorder lost samples. */
static void warn_losses(const char *path, const struct loaded *l)
{
	struct buf text = { 0 };

	losses_print(&text, &l->totals);
	if (text.n)
		cli_warn("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path, buf_cstr(&text));
	buf_release(&text);
}

static void no_memory(void)
{
	cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
}

/* The tree in the order of its lines, where nothing but it is to be written. */
static void print_tree(const struct profile *p)
{
	struct folded_writer w;
	struct slice line;

	if (!folded_writer_init(&w, p, 1))
		no_memory();
	while (folded_writer_next(&w, &line)) {
		if (fwrite(line.p, 1, line.n, stdout) != line.n)
			break;
	}
	if (w.line.failed)
		no_memory();
	folded_writer_release(&w);
}

/* Writes what has been put together so far; false where nobody takes it. */
static bool write_text(struct buf *text)
{
	bool good = fwrite(text->p, 1, text->n, stdout) == text->n;

	buf_clear(text);
	return good;
}

static void print_lines(struct lines *l)
{
	struct buf text = { 0 };
	struct slice stack;
	bool taken = true;
	uint64_t count;
	int got = lines_sort(l) ? 1 : -1;

	while (taken && got > 0 && (got = lines_next(l, &stack, &count)) > 0) {
		buf_bytes(&text, stack.p, stack.n);
		folded_append_count(&text, count);
		buf_byte(&text, '\n');
		if (text.failed)
			no_memory();
		if (text.n >= OUTPUT)
			taken = write_text(&text);
	}
	if (got < 0)
		cli_die(STATUS_SYSTEM, "%s", strerror(errno));
	if (taken && text.n)
		write_text(&text);
	buf_release(&text);
}

/* What the tree has becomes lines, made over before. Every stack is for itself then, but with --min. */
static bool tree_to_lines(struct profile *p, void *context)
{
	struct fold *fold = context;

	filters_shape(&fold->f, p);
	return lines_pour(&fold->lines, p);
}

static void begin(struct fold *fold)
{
	size_t budget = fold->f.shape.min ? 0 : fold->s.budget; /* what is small is known when all is there */

	if (!profile_init(&fold->p))
		no_memory();
	fold->p.stack_max = fold->s.line_max ? fold->s.line_max - (PROFILE_LINE_MAX - PROFILE_STACK_MAX) : PROFILE_STACK_MAX;
	lines_init(&fold->lines, budget - budget / 4);
	if (!shape_asked(&fold->f.shape))
		fold->f.lines = &fold->lines;
	if (budget) {
		fold->f.full = tree_to_lines;
		fold->f.budget = budget / 4;
		fold->f.context = fold;
	}
}

static enum status load(struct fold *fold, char **operands)
{
	enum status status = STATUS_OK;

	for (; *operands; operands++) {
		struct loaded l = { 0 };
		enum status s = filters_load(&fold->f, *operands, &fold->p, 0, &l);

		status = s > status ? s : status;
		fold->good += l.good;
		warn_losses(*operands, &l);
		if (fold->f.full && profile_bytes(&fold->p) > fold->f.budget && !tree_to_lines(&fold->p, fold))
			cli_die(STATUS_SYSTEM, "%s", strerror(errno));
	}
	return status;
}

static void print(struct fold *fold)
{
	if (!fold->lines.total) {
		print_tree(&fold->p);
		return;
	}
	if (!lines_pour(&fold->lines, &fold->p))
		cli_die(STATUS_SYSTEM, "%s", strerror(errno));
	print_lines(&fold->lines);
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { (char *)"-", NULL };
	struct fold fold = { .s.budget = (size_t)BUDGET_MIB << 20 };
	enum status status;
	int c;

	cli_begin("cprof-fold", usage);
	while ((c = getopt_long(argc, argv, FILTER_LETTERS "adpthV", options, NULL)) != -1) {
		if (!filters_option(&fold.f, c, optarg))
			take_option(&fold, c);
	}
	filters_check(&fold.f);
	begin(&fold);
	status = load(&fold, argv[optind] ? argv + optind : standard_input);
	filters_shape(&fold.f, &fold.p);
	if (!fold.good)
		status = STATUS_DAMAGED;
	else if (status == STATUS_OK && !fold.p.total[0] && !fold.lines.total)
		cli_warn("no sample counts, nothing is written");
	print(&fold);
	cli_stdout_done();
	lines_release(&fold.lines);
	profile_release(&fold.p);
	filters_release(&fold.f);
	return status;
}
