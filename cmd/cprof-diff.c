/*
 * cprof-diff: what changed between two captures or folded files.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/filters.h"
#include "common/profile/ends.h"
#include "common/profile/folded.h"
#include "common/profile/table.h"

static const char usage[] = "cprof-diff [--folded] [--no-normalize] [--truncated] [-n ROWS]\n"
			    "       [--by function|module|process|thread]\n       " FILTER_USAGE "\n       A B";

enum { DIFF_FOLDED = FILTERS_END, DIFF_NO_NORMALIZE, DIFF_BY, DIFF_TRUNCATED, ROWS = 20 };
/* Percent, and points between the sides, that are worth a word. */
enum { UNNAMED = 30, UNNAMED_CHANGE = 15, WHOLE_CHANGE = 10 };

static const struct option options[] = {
	FILTER_ROWS,
	{ "by", required_argument, NULL, DIFF_BY },
	{ "folded", no_argument, NULL, DIFF_FOLDED },
	{ "no-normalize", no_argument, NULL, DIFF_NO_NORMALIZE },
	{ "truncated", no_argument, NULL, DIFF_TRUNCATED },
	{ "rows", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct settings {
	bool folded, raw; /* raw: not normalized */
	size_t rows;
};

static void no_memory(void)
{
	cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
}

/* A stack of A and what scaling left over when its weight was rounded down. */
struct rest {
	uint64_t rest;
	size_t line; /* in the order of the output, so that ties fall the same way whatever the input was */
	uint32_t node;
};

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* All stacks with weight in A, in the order of the output. */
static struct rest *list_lines(const struct profile *p, size_t *n)
{
	struct folded_writer w;
	struct rest *list = NULL;
	struct slice line;
	size_t cap = 0;

	*n = 0;
	if (!folded_writer_init(&w, p, PROFILE_SIDES))
		no_memory();
	while (folded_writer_next(&w, &line)) {
		if (!p->nodes[w.node].self[0])
			continue;
		if (!grow_array(&list, &cap, *n, sizeof(*list)))
			no_memory();
		list[*n] = (struct rest){ .line = *n, .node = w.node };
		++*n;
	}
	if (w.line.failed)
		no_memory();
	folded_writer_release(&w);
	return list;
}

/*
 * Scales A to B's total in whole numbers. Rounding down leaves fewer units to give away than there are
 * stacks: those with the largest remainders get one each, so the columns have the same sum.
 */
static void normalize(struct profile *p)
{
	uint64_t from = p->total[0], to = p->total[1], left = to;
	struct rest *list;
	size_t n;

	if (!from || !to || from == to)
		return;
	list = list_lines(p, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t *self = &p->nodes[list[i].node].self[0];
		unsigned __int128 scaled = (unsigned __int128)*self * to;

		*self = (uint64_t)(scaled / from);
		list[i].rest = (uint64_t)(scaled % from);
		left -= *self;
	}
	qsort(list, n, sizeof(*list), by_rest);
	for (size_t i = 0; i < n && left; i++, left--)
		p->nodes[list[i].node].self[0]++;
	p->total[0] = to;
	free(list);
}

static void print_folded(struct profile *p, bool raw)
{
	struct folded_writer w;
	struct slice line;

	if (!raw)
		normalize(p);
	if (!folded_writer_init(&w, p, PROFILE_SIDES))
		no_memory();
	while (folded_writer_next(&w, &line)) {
		if (fwrite(line.p, 1, line.n, stdout) != line.n)
			break;
	}
	if (w.line.failed)
		no_memory();
	folded_writer_release(&w);
}

/* What a cell shows: percent of its side, or the weight itself. */
static double cell(const struct profile *p, const uint64_t *weight, unsigned int side, bool raw)
{
	if (raw)
		return (double)weight[side];
	return p->total[side] ? 100.0 * (double)weight[side] / (double)p->total[side] : 0;
}

static double change(const struct profile *p, const uint64_t *weight, bool raw)
{
	return cell(p, weight, 1, raw) - cell(p, weight, 0, raw);
}

static void print_cells(const struct profile *p, const uint64_t *weight, bool raw)
{
	if (raw)
		printf("%10.0f %10.0f %+10.0f  ", cell(p, weight, 0, raw), cell(p, weight, 1, raw),
		       change(p, weight, raw));
	else
		printf("%6.2f%% %6.2f%% %+8.2f  ", cell(p, weight, 0, raw), cell(p, weight, 1, raw),
		       change(p, weight, raw));
}

static void print_rows(const struct table *t, const struct profile *p, bool raw, size_t n)
{
	if (raw)
		printf("%10s %10s %10s  %10s %10s %10s\n", "flat A", "flat B", "change", "cum A", "cum B", "change");
	else
		printf("%7s %7s %8s  %7s %7s %8s\n", "flat A", "flat B", "change", "cum A", "cum B", "change");
	for (size_t i = 0; i < n; i++) {
		const struct table_row *row = &t->rows[i];
		struct slice name = profile_text(p, row->label);

		print_cells(p, row->flat, raw);
		print_cells(p, row->cum, raw);
		printf("%-4s  %.*s\n", !row->cum[0] ? "new" : !row->cum[1] ? "gone" : "", (int)name.n,
		       (const char *)name.p);
	}
}

/* The largest change first, flat or cumulative; of equal ones the function itself before its callers. */
static void print_table(const struct profile *p, const struct settings *s, char **names, enum view_weight weight)
{
	struct table t;
	size_t n;

	if (!table_init(&t, p))
		no_memory();
	for (size_t i = 0; i < t.n; i++) {
		double flat = fabs(change(p, t.rows[i].flat, s->raw)), cum = fabs(change(p, t.rows[i].cum, s->raw));

		t.rows[i].key = flat > cum ? flat : cum;
		t.rows[i].second = flat;
	}
	table_sort(&t, p);
	n = s->rows && s->rows < t.n ? s->rows : t.n;
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		printf("%c: %s, %" PRIu64 " %s\n", "AB"[side], names[side], p->total[side],
		       weight == WEIGHT_NS ? "ns" : "samples");
	printf("%zu of %zu rows shown, %s\n\n", n, t.n, s->raw ? "not normalized" : "in percent of each side");
	print_rows(&t, p, s->raw, n);
	table_release(&t);
}

static void print(struct profile *p, const struct settings *s, char **names, enum view_weight weight)
{
	if (s->folded)
		print_folded(p, s->raw);
	else
		print_table(p, s, names, weight);
}

static enum status load(struct filters *f, char **names, struct profile *p, struct loaded *sides)
{
	enum status status = STATUS_OK;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		struct buf text = { 0 };
		enum status s = filters_load(f, names[side], p, side, &sides[side]);

		status = s > status ? s : status;
		losses_print(&text, &sides[side].totals);
		if (text.n)
			cli_warn("%s: %s", names[side], buf_cstr(&text));
		buf_release(&text);
	}
	return status;
}

/* Is there something to compare? One side may be empty. */
static bool comparable(const struct loaded *sides)
{
	return (sides[0].good && (sides[1].good || sides[1].empty)) || (sides[0].empty && sides[1].good);
}

static bool begins_with(struct slice s, const char *start)
{
	return s.n >= strlen(start) && memcmp(s.p, start, strlen(start)) == 0;
}

/* A name that is only a place, in a capture or in folded text: "[app+0x128f]", "[anon]". */
static bool is_place(struct slice name)
{
	static const char *const memory[] = { "[unknown]", "[anon]", "[jit]" };
	const uint8_t *plus;

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (begins_with(name, memory[i]))
			return true;
	}
	plus = begins_with(name, "[") ? memrchr(name.p, '+', name.n) : NULL;
	return plus && begins_with((struct slice){ plus, name.n - (size_t)(plus - name.p) }, "+0x");
}

/* Percent of a side's weight that ends in a frame without a name. */
static void unnamed_shares(const struct profile *p, double *shares)
{
	uint64_t unnamed[PROFILE_SIDES] = { 0 };

	for (size_t i = 1; i < p->n; i++) {
		const struct profile_node *node = &p->nodes[i];

		if (!(node->self[0] || node->self[1]) || !is_place(profile_text(p, node->label)))
			continue;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			unnamed[side] += node->self[side];
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		shares[side] = cell(p, unnamed, side, false);
}

/* Places in files are compared as names are, but mean the same only in the same build. */
static void warn_unnamed(const struct profile *p, const struct loaded *sides, char **names)
{
	double shares[PROFILE_SIDES];
	bool raw[PROFILE_SIDES];

	unnamed_shares(p, shares);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		raw[side] = sides[side].streams && !sides[side].sums.symbols && shares[side] > 0;
	if (raw[0] && raw[1])
		cli_warn("%s and %s have no names yet: run cprof-sym first", names[0], names[1]);
	else if (raw[0] || raw[1])
		cli_warn("%s has no names yet: run cprof-sym first", names[raw[1]]);
	else if (p->total[0] && p->total[1] &&
		 (shares[0] > UNNAMED || shares[1] > UNNAMED || fabs(shares[0] - shares[1]) > UNNAMED_CHANGE))
		cli_warn("%.0f%% of %s and %.0f%% of %s end in code without a name, of which only places are compared",
			 shares[0], names[0], shares[1], names[1]);
}

static void warn_rebuilt(const struct modules *m, char **names)
{
	struct slice name;
	size_t n = modules_rebuilt(m, &name);
	char others[64] = "";

	if (n == 0)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), ", as %s %zu other%s", n > 2 ? "are" : "is", n - 1, n > 2 ? "s" : "");
	cli_warn("%.*s has frames without a name and is another build in %s than in %s%s: their places do not compare",
		 (int)name.n, (const char *)name.p, names[1], names[0], others);
}

static bool differs(const uint64_t *part, const uint64_t *whole, double *shares)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		shares[side] = 100.0 * (double)part[side] / (double)whole[side];
	return fabs(shares[0] - shares[1]) > WHOLE_CHANGE;
}

/* Where one side has whole stacks and the other has not, callers seem to come and go. */
static void warn_truncated(const struct loaded *sides, char **names)
{
	struct ends a = ends_of(sides[0].sums.user), b = ends_of(sides[1].sums.user);
	const uint64_t stacks[] = { a.stacks, b.stacks }, complete[] = { a.complete, b.complete },
		       truncated[] = { a.truncated, b.truncated };
	double shares[PROFILE_SIDES];
	const char *how = "complete";

	if (!a.stacks || !b.stacks)
		return;
	if (!differs(complete, stacks, shares)) {
		how = "truncated";
		if (!differs(truncated, stacks, shares))
			return;
	}
	cli_warn("%.0f%% of the user stacks of %s are %s and %.0f%% of those of %s: what one of them lacks seems to have "
		 "changed", shares[0], names[0], how, shares[1], names[1]);
}

static void take_option(struct filters *f, struct settings *s, int c)
{
	switch (c) {
	case DIFF_FOLDED:
		s->folded = true;
		break;
	case DIFF_NO_NORMALIZE:
		s->raw = true;
		break;
	case DIFF_TRUNCATED:
		f->view.truncated = true;
		break;
	case DIFF_BY:
		filters_by(f, optarg);
		break;
	case 'n':
		s->rows = (size_t)cli_number("-n", optarg, 0, INT32_MAX);
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
	struct loaded sides[PROFILE_SIDES] = { 0 };
	struct settings s = { .rows = ROWS };
	struct filters f = { .view.no_ids = true };
	enum status status;
	struct profile p;
	int c;

	cli_begin("cprof-diff", usage);
	while ((c = getopt_long(argc, argv, FILTER_LETTERS "n:hV", options, NULL)) != -1) {
		if (!filters_option(&f, c, optarg))
			take_option(&f, &s, c);
	}
	filters_check(&f);
	filters_keep_apart(&f);
	if (argc - optind != PROFILE_SIDES)
		cli_usage("two operands are needed, before and after");
	if (strcmp(argv[optind], "-") == 0 && strcmp(argv[optind + 1], "-") == 0)
		cli_usage("standard input can be one of the two, not both");
	if (!profile_init(&p))
		no_memory();
	status = load(&f, argv + optind, &p, sides);
	filters_settle(&f, &p, PROFILE_SIDES, s.folded ? PROFILE_STACK_MAX : 0);
	filters_shape(&f, &p);
	if (!comparable(sides)) {
		status = STATUS_DAMAGED;
	} else {
		if (f.view.by == BY_FUNCTION || f.view.by == BY_MODULE)
			warn_truncated(sides, argv + optind);
		if (f.view.by == BY_FUNCTION) {
			warn_unnamed(&p, sides, argv + optind);
			warn_rebuilt(&f.modules, argv + optind);
		}
		print(&p, &s, argv + optind, f.view.weight);
	}
	cli_stdout_done();
	profile_release(&p);
	filters_release(&f);
	return status;
}
