/*
 * cprof-top: where the time went, as a table: flat, cumulative, by function, module, process or thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/header.h"
#include "common/profile/table.h"

static const char usage[] = "cprof-top [--cum] [--truncated] [-v] [-n ROWS]\n"
			    "       [--by function|module|process|thread]\n       " FILTER_USAGE "\n       [FILE ...]";

enum { TOP_CUM = FILTERS_END, TOP_BY, TOP_TRUNCATED, ROWS = 20 };

static const struct option options[] = {
	FILTER_ROWS,
	{ "by", required_argument, NULL, TOP_BY },
	{ "cum", no_argument, NULL, TOP_CUM },
	{ "truncated", no_argument, NULL, TOP_TRUNCATED },
	{ "rows", required_argument, NULL, 'n' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct settings {
	bool cum, verbose;
	size_t rows; /* 0: all */
};

static const char *const things[] = {
	[BY_FUNCTION] = "functions",
	[BY_MODULE] = "modules",
	[BY_PROCESS] = "processes",
	[BY_THREAD] = "threads",
};

static void print_time(char *to, size_t size, uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(to, size, "%.2fs", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(to, size, "%.2fms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(to, size, "%.2fus", (double)ns / 1e3);
	else
		snprintf(to, size, "%" PRIu64 "ns", ns);
}

static void print_weight(enum view_weight weight, uint64_t v)
{
	char text[32];

	if (weight == WEIGHT_NS)
		print_time(text, sizeof(text), v);
	else
		snprintf(text, sizeof(text), "%" PRIu64, v);
	printf("%10s", text);
}

static void print_header(const struct loaded *l, const struct reasons *reasons, bool verbose)
{
	struct header h = { 0 };
	struct buf text = { 0 };

	header_make(&h, l, reasons, verbose);
	header_print(&h, &text);
	fputs(buf_cstr(&text), stdout);
	buf_release(&text);
	header_release(&h);
}

static void print_table(const struct table *t, const struct profile *p, const struct view *v, size_t n)
{
	uint64_t total = p->total[0], sum = 0;

	printf("Total:     ");
	print_weight(v->weight, total);
	printf("%s, %zu of %zu %s shown\n\n", v->weight == WEIGHT_NS ? "" : " samples", n, t->n, things[v->by]);
	printf("%10s %7s %7s %10s %7s\n", "flat", "flat%", "sum%", "cum", "cum%");
	for (size_t i = 0; i < n; i++) {
		const struct table_row *row = &t->rows[i];
		struct slice name = profile_text(p, row->label);

		sum += row->flat[0];
		print_weight(v->weight, row->flat[0]);
		printf(" %6.2f%% %6.2f%% ", header_percent(row->flat[0], total), header_percent(sum, total));
		print_weight(v->weight, row->cum[0]);
		printf(" %6.2f%%  %.*s\n", header_percent(row->cum[0], total), (int)name.n, (const char *)name.p);
	}
}

static void print(const struct profile *p, const struct view *v, const struct loaded *l, const struct settings *s)
{
	struct table t;
	size_t n;

	if (!table_init(&t, p))
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	for (size_t i = 0; i < t.n; i++) {
		t.rows[i].key = (double)(s->cum ? t.rows[i].cum[0] : t.rows[i].flat[0]);
		t.rows[i].second = (double)(s->cum ? t.rows[i].flat[0] : t.rows[i].cum[0]);
	}
	table_sort(&t, p);
	reasons_sort(v->reasons);
	print_header(l, v->reasons, s->verbose);
	n = s->rows && s->rows < t.n ? s->rows : t.n;
	print_table(&t, p, v, n);
	table_release(&t);
	cli_stdout_done();
}

static void take_option(struct filters *f, struct settings *s, int c)
{
	switch (c) {
	case TOP_CUM:
		s->cum = true;
		break;
	case TOP_TRUNCATED:
		f->view.truncated = true;
		break;
	case TOP_BY:
		filters_by(f, optarg);
		break;
	case 'n':
		s->rows = (size_t)cli_number("-n", optarg, 0, INT32_MAX);
		break;
	case 'v':
		s->verbose = true;
		break;
	case 'h':
		cli_help();
	case 'V':
		cli_version();
	default:
		cli_usage(NULL);
	}
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { (char *)"-", NULL };
	struct settings settings = { .rows = ROWS };
	enum status status = STATUS_OK;
	struct filters f = { 0 };
	struct loaded l = { 0 };
	struct reasons reasons;
	struct profile p;
	int c;

	cli_begin("cprof-top", usage);
	while ((c = getopt_long(argc, argv, FILTER_LETTERS "n:vhV", options, NULL)) != -1) {
		if (!filters_option(&f, c, optarg))
			take_option(&f, &settings, c);
	}
	filters_check(&f);
	filters_keep_apart(&f);
	reasons_init(&reasons);
	f.view.reasons = &reasons;
	if (!profile_init(&p))
		cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
	for (argv = argv[optind] ? argv + optind : standard_input; *argv; argv++) {
		enum status s = filters_load(&f, *argv, &p, 0, &l);

		status = s > status ? s : status;
	}
	filters_settle(&f, &p, 1, 0);
	filters_match(&f, &p);
	if (l.good)
		print(&p, &f.view, &l, &settings);
	else
		status = STATUS_DAMAGED;
	profile_release(&p);
	reasons_release(&reasons);
	filters_release(&f);
	return status;
}
