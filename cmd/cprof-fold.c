/*
 * cprof-fold: captures and folded text as folded text, each stack once.
 */
#include <errno.h>
#include <stdio.h>

#include "cmd/filters.h"
#include "common/profile/folded.h"

static const char usage[] = "cprof-fold [-adpt] [--container] [--truncated] [--reverse]\n       " FILTER_USAGE "\n       [FILE ...]";

enum { FOLD_CONTAINER = FILTERS_END, FOLD_TRUNCATED };

static const struct option options[] = {
	FILTER_ROWS,
	{ "annotate", no_argument, NULL, 'a' },
	{ "delimiter", no_argument, NULL, 'd' },
	{ "with-pid", no_argument, NULL, 'p' },
	{ "with-tid", no_argument, NULL, 't' },
	{ "container", no_argument, NULL, FOLD_CONTAINER },
	{ "truncated", no_argument, NULL, FOLD_TRUNCATED },
	{ "reverse", no_argument, NULL, FILTER_REVERSE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static void take_option(struct view *v, int c)
{
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

static void print(const struct profile *p)
{
	struct folded_writer w;
	struct slice line;

	if (!folded_writer_init(&w, p, 1))
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	while (folded_writer_next(&w, &line)) {
		if (fwrite(line.p, 1, line.n, stdout) != line.n)
			break;
	}
	if (w.line.failed)
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	folded_writer_release(&w);
	cli_stdout_done();
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { (char *)"-", NULL };
	enum status status = STATUS_OK;
	struct filters f = { 0 };
	struct profile p;
	uint64_t good = 0;
	int c;

	cli_begin("cprof-fold", usage);
	while ((c = getopt_long(argc, argv, FILTER_LETTERS "adpthV", options, NULL)) != -1) {
		if (!filters_option(&f, c, optarg))
			take_option(&f.view, c);
	}
	filters_check(&f);
	if (!profile_init(&p))
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	p.stack_max = PROFILE_STACK_MAX;
	for (argv = argv[optind] ? argv + optind : standard_input; *argv; argv++) {
		struct loaded l = { 0 };
		enum status s = filters_load(&f, *argv, &p, 0, &l);

		status = s > status ? s : status;
		good += l.good;
		warn_losses(*argv, &l);
	}
	filters_shape(&f, &p);
	if (!good)
		status = STATUS_DAMAGED;
	else if (status == STATUS_OK && !p.total[0])
		cli_warn("no sample counts, nothing is written");
	print(&p);
	profile_release(&p);
	filters_release(&f);
	return status;
}
