/*
 * cprof-top: where the time went, as a table: flat, cumulative, by function, module, process or thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/filters.h"
#include "common/profile/ends.h"
#include "common/profile/label.h"
#include "common/profile/reason.h"
#include "common/profile/table.h"

static const char usage[] = "cprof-top [--cum] [--truncated] [-v] [-n ROWS]\n"
			    "       [--by function|module|process|thread]\n       " FILTER_USAGE "\n       [FILE ...]";

enum { TOP_CUM = FILTERS_END, TOP_BY, TOP_TRUNCATED, ROWS = 20, REASONS = 3 };

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

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

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

/* What became of the ticks, as far as it was recorded: all that happened, and how much was expected. */
static void print_ledger(const struct capture_totals *t)
{
	const char *between = " expected: ";
	struct buf lost = { 0 };

	if (!t->outcomes[OUTCOME_EXPECTED] && !losses_count(t))
		return;
	printf("Ledger:     %" PRIu64, t->outcomes[OUTCOME_EXPECTED]);
	for (unsigned int o = OUTCOME_EMITTED; o <= OUTCOME_SUM; o++) {
		if (!t->outcomes[o])
			continue;
		printf("%s%" PRIu64 " %s", between, t->outcomes[o], outcome_name(o));
		between = ", ";
	}
	printf("%s\n", between[0] == ' ' ? " expected" : "");
	losses_print(&lost, t);
	printf("Lost:       %s\n", lost.n ? buf_cstr(&lost) : "nothing");
	buf_release(&lost);
}

/* "0.40% truncated (12 no-table, 3 depth)" */
static void print_truncated(const struct ends *e, const uint64_t *by_root)
{
	const char *between = " (";

	printf("%.2f%% truncated", percent(e->truncated, e->stacks));
	for (unsigned int i = 0; i < NODE_FIRST; i++) {
		if (!ends_truncated(i) || !by_root[i])
			continue;
		printf("%s%" PRIu64 " %s", between, by_root[i], root_name(i));
		between = ", ";
	}
	printf("%s\n", e->truncated ? ")" : "");
}

/* How whole the stacks are. The kernel's are, as a rule: a line only where they are not. */
static void print_stacks(const struct gather_sums *s)
{
	struct ends user = ends_of(s->user), kernel = ends_of(s->kernel);

	if (user.stacks) {
		printf("Stacks:     %" PRIu64 " user, %.2f%% complete, ", user.stacks, percent(user.complete, user.stacks));
		if (user.unverified)
			printf("%.2f%% by frame pointers (unverified), ", percent(user.unverified, user.stacks));
		print_truncated(&user, s->user);
	}
	if (kernel.truncated) {
		printf("Kernel:     %" PRIu64 " stacks, ", kernel.stacks);
		print_truncated(&kernel, s->kernel);
	}
}

/* What stacks were unwound by, and what had no room. */
static void print_tables(const struct capture_totals *t)
{
	const uint64_t *costs = t->costs;

	if (!costs[COST_TABLES] && !costs[COST_TABLE_BYTES] && !costs[COST_TABLES_REFUSED])
		return;
	printf("Tables:     %" PRIu64 " built, %.1f MiB", costs[COST_TABLES],
	       (double)costs[COST_TABLE_BYTES] / (1 << 20));
	if (costs[COST_TABLES_REFUSED])
		printf(", room was short %" PRIu64 " time%s", costs[COST_TABLES_REFUSED],
		       costs[COST_TABLES_REFUSED] == 1 ? "" : "s");
	if (costs[COST_TABLES_EVICTED])
		printf(", %" PRIu64 " put out to make room", costs[COST_TABLES_EVICTED]);
	if (costs[COST_STACKS_DEFERRED])
		printf("; %" PRIu64 " stack%s unwound in user space", costs[COST_STACKS_DEFERRED],
		       costs[COST_STACKS_DEFERRED] == 1 ? "" : "s");
	putchar('\n');
}

static void print_cost(const struct capture_totals *t)
{
	uint64_t cpu = t->costs[COST_USER_NS] + t->costs[COST_SYSTEM_NS] + t->costs[COST_BPF_NS];

	if (!cpu && !t->costs[COST_BYTES])
		return;
	printf("Recorder:   %.3f s of CPU (%.3f user, %.3f system, %.3f BPF), %" PRIu64 " bytes written",
	       (double)cpu / 1e9, (double)t->costs[COST_USER_NS] / 1e9, (double)t->costs[COST_SYSTEM_NS] / 1e9,
	       (double)t->costs[COST_BPF_NS] / 1e9, t->costs[COST_BYTES]);
	if (t->costs[COST_RSS_BYTES])
		printf(", %.1f MiB of memory", (double)t->costs[COST_RSS_BYTES] / (1 << 20));
	putchar('\n');
}

/* "              8.33%         12 in /lib/x.so (stripped)", the first few of them unless all are asked for. */
static void print_reasons(const struct reasons *r, uint64_t samples, bool all)
{
	size_t n = all || r->n <= REASONS ? r->n : REASONS;
	struct buf where = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct reason *it = &r->list[i];

		buf_clear(&where);
		label_append(&where, it->where);
		printf("            %6.2f%% %10" PRIu64 " in %s (%.*s)\n", percent(it->samples, samples), it->samples,
		       buf_cstr(&where), (int)it->why.n, (const char *)it->why.p);
	}
	if (n < r->n)
		printf("            and %zu more (-v lists all)\n", r->n - n);
	buf_release(&where);
}

static void print_header(const struct loaded *l, const struct reasons *reasons, bool verbose)
{
	if (!l->streams)
		return;
	printf("Samples:    %" PRIu64 " in %.2f s", l->totals.samples, (double)l->totals.seconds_ns / 1e9);
	if (l->sums.samples != l->totals.samples)
		printf(", %" PRIu64 " of them looked at", l->sums.samples);
	if (l->totals.refused)
		printf(", %" PRIu64 " left out for damage", l->totals.refused);
	putchar('\n');
	print_ledger(&l->totals);
	print_stacks(&l->sums);
	printf("Unresolved: %.2f%% of innermost frames\n", percent(l->sums.unresolved, l->sums.samples));
	print_reasons(reasons, l->sums.samples, verbose);
	print_tables(&l->totals);
	print_cost(&l->totals);
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
		printf(" %6.2f%% %6.2f%% ", percent(row->flat[0], total), percent(sum, total));
		print_weight(v->weight, row->cum[0]);
		printf(" %6.2f%%  %.*s\n", percent(row->cum[0], total), (int)name.n, (const char *)name.p);
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
	filters_shape(&f, &p);
	if (l.good)
		print(&p, &f.view, &l, &settings);
	else
		status = STATUS_DAMAGED;
	profile_release(&p);
	reasons_release(&reasons);
	filters_release(&f);
	return status;
}
