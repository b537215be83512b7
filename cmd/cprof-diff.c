/*
 * cprof-diff: what changed between captures or folded files, and what is chance.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/filters.h"
#include "common/export/changed.h"
#include "common/profile/ends.h"
#include "common/profile/folded.h"
#include "common/profile/label.h"
#include "common/profile/unnamed.h"
#include "common/stats/added.h"
#include "common/stats/changes.h"
#include "common/stats/normalize.h"

static const char usage[] =
	"cprof-diff [--folded] [--no-normalize] [--significant] [--fail-above POINTS]\n"
	"       [--truncated] [-n ROWS] [-o table|tsv|ndjson|json]\n"
	"       [--by function|module|process|thread|container|label.KEY]\n       " FILTER_USAGE "\n"
	"       A B | A... -- B... | --before A... --after B...";

enum { DIFF_FOLDED = FILTERS_END, DIFF_NO_NORMALIZE, DIFF_TRUNCATED, DIFF_SIGNIFICANT, DIFF_FAIL, DIFF_BEFORE,
       DIFF_AFTER };
enum { ROWS = 20, SLICE_MS = 50 };
/* Percent, and points between the sides, that are worth a word. */
enum { UNNAMED = 30, UNNAMED_CHANGE = 15, WHOLE_CHANGE = 10 };

static const struct option options[] = {
	FILTER_ROWS,
	{ "before", required_argument, NULL, DIFF_BEFORE },
	{ "after", required_argument, NULL, DIFF_AFTER },
	{ "by", required_argument, NULL, FILTER_BY },
	{ "fail-above", required_argument, NULL, DIFF_FAIL },
	{ "folded", no_argument, NULL, DIFF_FOLDED },
	{ "no-normalize", no_argument, NULL, DIFF_NO_NORMALIZE },
	{ "output", required_argument, NULL, 'o' },
	{ "significant", no_argument, NULL, DIFF_SIGNIFICANT },
	{ "truncated", no_argument, NULL, DIFF_TRUNCATED },
	{ "rows", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* One side of the comparison: its operands and what they gave. */
struct side {
	char **names;
	size_t n, cap;
	char title[256]; /* for messages */
	struct loaded loaded;
	double samples;  /* not finite: nobody knows how many */
	uint32_t runs;
	bool had;        /* samples, before the options */
};

struct settings {
	bool folded, raw, significant, has_rows, program; /* raw: not normalized; program: rows for one */
	enum rows_format format;
	double fail_above; /* points; below 0: not asked */
	size_t rows;
	struct side sides[PROFILE_SIDES];
};

/* What there is to print. */
struct findings {
	struct profile p;
	struct table table;
	struct changes_setup setup;
	struct changes changes;
	size_t rows; /* of the table, to be shown */
};

static void no_memory(void)
{
	cli_die(STATUS_SYSTEM, "%s", strerror(ENOMEM));
}

static const struct changes_row *change_of(const struct findings *o, size_t row)
{
	return &o->changes.by_label[o->table.rows[row].label];
}

static void print_folded(struct profile *p, bool raw)
{
	struct folded_writer w;
	struct slice line;

	if (!raw && !normalize(p))
		no_memory();
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

static void print_raw(const struct findings *o)
{
	printf("%10s %10s %10s  %10s %10s %10s\n", "flat A", "flat B", "change", "cum A", "cum B", "change");
	for (size_t i = 0; i < o->rows; i++) {
		const struct table_row *row = &o->table.rows[i];
		const uint64_t *kinds[] = { row->flat, row->cum };
		struct slice name = profile_text(&o->p, row->label);

		for (unsigned int kind = 0; kind < 2; kind++)
			printf("%10" PRIu64 " %10" PRIu64 " %+10.0f  ", kinds[kind][0], kinds[kind][1],
			       change(&o->p, kinds[kind], true));
		printf("%-4s  %.*s\n", !row->cum[0] ? "new" : !row->cum[1] ? "gone" : "", (int)name.n,
		       (const char *)name.p);
	}
}

static void print_cells(const struct profile *p, const uint64_t *weight, const struct change *c)
{
	char interval[40];

	snprintf(interval, sizeof(interval), "[%+.2f, %+.2f]", 100 * c->interval.low, 100 * c->interval.high);
	printf("%6.2f%% %6.2f%% %+8.2f %c%-18s ", cell(p, weight, 0, false), cell(p, weight, 1, false),
	       change(p, weight, false), c->q < COMPARE_RATE ? ' ' : '~', interval);
}

static void print_rows(const struct findings *o)
{
	for (unsigned int kind = 0; kind < 2; kind++)
		printf("%7s %7s %8s  %s", kind ? "cum A" : "flat A", kind ? "cum B" : "flat B", "change",
		       kind ? "[95 %]\n" : "[95 %]             ");
	for (size_t i = 0; i < o->rows; i++) {
		const struct table_row *row = &o->table.rows[i];
		struct slice name = profile_text(&o->p, row->label);

		print_cells(&o->p, row->flat, &change_of(o, i)->flat);
		print_cells(&o->p, row->cum, &change_of(o, i)->cum);
		printf("%-4s  %.*s\n", !row->cum[0] ? "new" : !row->cum[1] ? "gone" : "", (int)name.n,
		       (const char *)name.p);
	}
}

/* How chance was measured: who reads a verdict must know what it does not cover. */
static void print_basis(const struct findings *o, const struct side *sides)
{
	const struct changes *c = &o->changes;

	if (!isfinite(o->setup.unit[0]) || !isfinite(o->setup.unit[1])) {
		printf("no test: nanoseconds in folded text do not tell how many samples they are\n");
	} else if (!o->p.total[0] || !o->p.total[1]) {
		printf("no test: %s no samples\n",
		       o->p.total[0] ? "B has" : o->p.total[1] ? "A has" : "A and B have");
	} else if (c->runs[0] || c->runs[1]) {
		printf("chance is what differs between %sthe captures of a side%s\n",
		       c->model.basis == DESIGNS_MIXED ? "blocks of time, or between " : "",
		       c->model.basis == DESIGNS_MIXED ? " if that is more; three a side would tell alone" : "");
	} else if (c->blocks[0] && c->blocks[1]) {
		printf("chance is what differs between blocks of time: %" PRIu32 " of %.2f s and %" PRIu32 " of %.2f s\n",
		       c->blocks[0], c->slices[0] * SLICE_MS / 1e3, c->blocks[1], c->slices[1] * SLICE_MS / 1e3);
	} else if (c->blocks[0] || c->blocks[1]) {
		printf("chance is what differs between blocks of time of %s; the other side is folded text, which has none\n",
		       sides[!c->blocks[0]].title);
	} else {
		printf("chance is that of independent samples: bursts are not known, since %s\n",
		       o->setup.timed[0] || o->setup.timed[1] ?
		       "what is compared of a capture is shorter than a second" : "folded text has no time");
	}
}

static void print_verdict(const struct findings *o, const struct settings *s, enum view_by by)
{
	static const char *const things[] = { "functions", "modules", "processes", "threads", "containers", "labels" };
	const struct changes *c = &o->changes;

	printf("%zu of %zu %s changed, at a false-discovery rate of 5 %%\n", c->changed, o->table.n, things[by]);
	print_basis(o, s->sides);
	if (c->long_bursts)
		printf("bursts are longer than a block, and chance may be more than that: longer captures, or three a side, would tell\n");
	if (!o->p.total[0] || !o->p.total[1])
		return;
	printf("growth that would be seen in 4 of 5 cases:");
	for (unsigned int share = 1; share <= 10; share *= 10) {
		double growth = 100 * changes_detectable_at(c, &o->p, &o->setup, share / 100.0);

		if (isfinite(growth))
			printf("%s %.2f points from %u %%", share > 1 ? "," : "", growth, share);
		else
			printf("%s nothing from %u %%", share > 1 ? "," : "", share);
	}
	printf("\n");
}

static void print_table(const struct findings *o, const struct settings *s, const struct filters *f)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		printf("%c: %s, %" PRIu64 " %s\n", "AB"[side], s->sides[side].title, o->p.total[side],
		       view_unit(&f->view));
	if (!s->raw)
		print_verdict(o, s, f->view.by);
	printf("%zu of %zu rows shown, %s\n\n", o->rows, o->table.n,
	       s->raw ? "not normalized" : "in percent of each side; ~ may be chance");
	if (s->raw)
		print_raw(o);
	else
		print_rows(o);
}

static void print_program(const struct findings *o, enum rows_format format)
{
	struct rows r;

	if (!changed_init(&r, format))
		cli_usage("-o json and ndjson: built without JSON");
	for (size_t i = 0; i < o->rows; i++) {
		changed_add(&r, &o->p, &o->changes, &o->table.rows[i]);
		fwrite(r.out.p, 1, r.out.n, stdout);
		buf_clear(&r.out);
	}
	rows_end(&r);
	fwrite(r.out.p, 1, r.out.n, stdout);
	if (r.failed)
		no_memory();
	rows_release(&r);
}

/*
 * What is no chance comes first; then the largest change, flat or cumulative; of equal ones the function itself
 * before its callers.
 */
static void sort_rows(struct findings *o, const struct settings *s)
{
	enum { ABOVE_ALL = 1000 };
	struct table *t = &o->table;

	for (size_t i = 0; i < t->n; i++) {
		double flat = fabs(change(&o->p, t->rows[i].flat, s->raw)), cum = fabs(change(&o->p, t->rows[i].cum, s->raw));

		t->rows[i].key = flat > cum ? flat : cum;
		t->rows[i].second = flat;
		if (!s->raw && changes_significant(change_of(o, i)))
			t->rows[i].key += ABOVE_ALL;
	}
	table_sort(t, &o->p);
	o->rows = s->significant ? o->changes.changed : t->n;
	if (s->rows && s->rows < o->rows && (!s->program || s->has_rows))
		o->rows = s->rows;
}

static void compare(struct findings *o, const struct settings *s)
{
	if (!table_init(&o->table, &o->p))
		no_memory();
	if (!s->raw && !changes_init(&o->changes, &o->table, &o->p, &o->setup))
		no_memory();
	sort_rows(o, s);
}

/* What a gate does not see, and what it would take. */
static void warn_unseen(const struct findings *o, double allowed)
{
	static const char *const lacking[] = {
		[DESIGNS_NONE] = "more samples",
		[DESIGNS_BLOCKS] = "longer captures, or several of each side,",
		[DESIGNS_MIXED] = "more captures of each side",
		[DESIGNS_BETWEEN] = "more captures of each side",
	};
	double seen = 100 * changes_detectable_at(&o->changes, &o->p, &o->setup, 0.01);
	char below[60] = "";

	if (seen <= allowed)
		return;
	if (isfinite(seen))
		snprintf(below, sizeof(below), " for sure below %.2f points", seen);
	cli_warn("--fail-above %g: growth of a function of 1 %% is not seen%s; %s would tell", allowed, below,
		 lacking[o->changes.model.basis]);
}

/* Sides without samples: no gate has judged them. Options that leave none of those there are, are a slip of the hand. */
static enum status judge_nothing(const struct findings *o, const struct settings *s)
{
	enum status status = STATUS_OK;

	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		const struct side *side = &s->sides[number];

		if (o->p.total[number] || (side->loaded.empty && s->fail_above < 0))
			continue;
		if (side->had)
			cli_warn("0 samples of %s are compared: the options leave none of those that it has", side->title);
		else
			cli_warn("0 samples of %s are compared: it has none", side->title);
		status = side->had && status != STATUS_DAMAGED ? STATUS_USAGE : STATUS_DAMAGED;
	}
	return status;
}

/* Growth of a function with all it calls that is no chance and as large as was asked. */
static enum status judge(const struct findings *o, const struct settings *s)
{
	double most = -1;
	size_t n = 0, at = 0;
	struct slice name;

	for (size_t i = 0; i < o->table.n; i++) {
		double growth = change(&o->p, o->table.rows[i].cum, false);

		if (change_of(o, i)->cum.q >= COMPARE_RATE || growth < s->fail_above)
			continue;
		n++;
		at = growth > most ? i : at;
		most = growth > most ? growth : most;
	}
	warn_unseen(o, s->fail_above);
	if (!n)
		return STATUS_OK;
	name = profile_text(&o->p, o->table.rows[at].label);
	cli_warn("%.*s grew by %.2f points%s (--fail-above %g)", (int)name.n, (const char *)name.p, most,
		 n > 1 ? ", and others did" : "", s->fail_above);
	return STATUS_GREW;
}

static enum status print(struct findings *o, const struct settings *s, const struct filters *f)
{
	enum status status;

	if (s->folded) {
		print_folded(&o->p, s->raw);
		return STATUS_OK;
	}
	compare(o, s);
	if (s->program)
		print_program(o, s->format);
	else
		print_table(o, s, f);
	status = judge_nothing(o, s);
	if (s->fail_above < 0)
		return STATUS_OK;
	return status ? status : judge(o, s);
}

/*
 * Text counts as samples, unless it can be seen not to. Where a side has several files each is a run, and
 * what it added is noted.
 */
static void end_text(struct added *a, struct findings *o, struct side *side, bool ns)
{
	added_end(a, &o->p);
	if (a->unit >= ADDED_UNIT_LEAST)
		side->samples += (double)(a->weight / a->unit);
	else
		side->samples += ns && a->weight ? INFINITY : (double)a->weight;
	if (side->n > 1) {
		side->runs++;
		if (!added_mark(a, &o->p))
			no_memory();
	}
}

/* What the warnings below want to know of a whole side. */
static void add_loaded(struct loaded *sum, const struct loaded *one)
{
	sum->streams += one->streams;
	sum->texts += one->texts;
	sum->good += one->good;
	sum->empty += one->empty;
	sum->totals.samples += one->totals.samples;
	sum->sums.samples += one->sums.samples;
	sum->sums.symbols += one->sums.symbols;
	for (size_t i = 0; i < ENDS; i++)
		sum->sums.user[i] += one->sums.user[i];
}

static enum status load_one(struct filters *f, const char *name, struct findings *o, struct side *side, unsigned int number)
{
	struct loaded one = { 0 };
	struct buf text = { 0 };
	uint32_t runs = o->p.runs;
	enum status status;
	struct added a;

	if (!added_begin(&a, &o->p, number))
		no_memory();
	status = filters_load(f, name, &o->p, number, &one);
	losses_print(&text, &one.totals);
	if (text.n)
		cli_warn("%s: %s", name, buf_cstr(&text));
	buf_release(&text);
	side->runs += o->p.runs - runs;
	side->samples += (double)one.sums.samples;
	if (one.texts)
		end_text(&a, o, side, f->view.weight != WEIGHT_SAMPLES);
	added_release(&a);
	add_loaded(&side->loaded, &one);
	return status;
}

static enum status load(struct filters *f, struct findings *o, struct settings *s)
{
	enum status status = STATUS_OK;

	if (!s->folded && !s->raw)
		f->view.moment_ns = SLICE_MS * 1000000;
	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct side *side = &s->sides[number];

		for (size_t i = 0; i < side->n; i++) {
			enum status one = load_one(f, side->names[i], o, side, number);

			status = one > status ? one : status;
		}
		o->setup.unit[number] = !isfinite(side->samples) ? INFINITY :
					side->samples > 0 ? (double)o->p.total[number] / side->samples : 1;
		side->had = side->loaded.totals.samples > 0 || o->p.total[number] > 0 ||
			    (side->loaded.texts && f->view.n_comms);
		o->setup.timed[number] = side->loaded.streams && !side->loaded.texts;
		o->setup.runs[number] = side->runs;
	}
	return status;
}

/* Is there something to compare? One side may be empty. */
static bool comparable(const struct side *sides)
{
	const struct loaded *a = &sides[0].loaded, *b = &sides[1].loaded;

	return (a->good && (b->good || b->empty)) || (a->empty && b->good);
}

/* Places in files are compared as names are, but mean the same only in the same build. */
static void warn_unnamed(const struct profile *p, const struct side *sides)
{
	uint64_t unnamed[PROFILE_SIDES];
	double shares[PROFILE_SIDES];
	bool raw[PROFILE_SIDES];

	unnamed_weight(p, unnamed);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		shares[side] = cell(p, unnamed, side, false);
		raw[side] = sides[side].loaded.streams && !sides[side].loaded.sums.symbols && shares[side] > 0;
	}
	if (raw[0] && raw[1])
		cli_warn("%s and %s have no names yet: run cprof-sym first", sides[0].title, sides[1].title);
	else if (raw[0] || raw[1])
		cli_warn("%s has no names yet: run cprof-sym first", sides[raw[1]].title);
	else if (p->total[0] && p->total[1] &&
		 (shares[0] > UNNAMED || shares[1] > UNNAMED || fabs(shares[0] - shares[1]) > UNNAMED_CHANGE))
		cli_warn("%.0f%% of %s and %.0f%% of %s end in code without a name, of which only places are compared",
			 shares[0], sides[0].title, shares[1], sides[1].title);
}

static void warn_rebuilt(const struct modules *m, const struct side *sides)
{
	struct slice name;
	size_t n = modules_rebuilt(m, &name);
	char others[64] = "";

	if (n == 0)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), ", as %s %zu other%s", n > 2 ? "are" : "is", n - 1, n > 2 ? "s" : "");
	cli_warn("%.*s has frames without a name and is another build in %s than in %s%s: their places do not compare",
		 (int)name.n, (const char *)name.p, sides[1].title, sides[0].title, others);
}

static bool differs(const uint64_t *part, const uint64_t *whole, double *shares)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		shares[side] = 100.0 * (double)part[side] / (double)whole[side];
	return fabs(shares[0] - shares[1]) > WHOLE_CHANGE;
}

/* Where one side has whole stacks and the other has not, callers seem to come and go. */
static void warn_truncated(const struct side *sides)
{
	struct ends a = ends_of(sides[0].loaded.sums.user), b = ends_of(sides[1].loaded.sums.user);
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
		 "changed", shares[0], sides[0].title, how, shares[1], sides[1].title);
}

static void add_name(struct side *side, char *name)
{
	if (!grow_array(&side->names, &side->cap, side->n, sizeof(*side->names)))
		no_memory();
	side->names[side->n++] = name;
}

static double parse_points(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 100))
		cli_usage("--fail-above: \"%s\" is not a number from 0 to 100", text);
	return v;
}

static void set_format(struct settings *s, const char *text)
{
	s->program = strcmp(text, "table") != 0;
	if (s->program && !rows_format_of(text, &s->format))
		cli_usage("-o: \"%s\" is none of table, tsv, ndjson and json", text);
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
	case DIFF_SIGNIFICANT:
		s->significant = true;
		break;
	case DIFF_FAIL:
		s->fail_above = parse_points(optarg);
		break;
	case DIFF_TRUNCATED:
		f->view.truncated = true;
		break;
	case DIFF_BEFORE:
	case DIFF_AFTER:
		add_name(&s->sides[c == DIFF_AFTER], optarg);
		break;
	case 'n':
		s->rows = (size_t)cli_number("-n", optarg, 0, INT32_MAX);
		s->has_rows = true;
		break;
	case 'o':
		set_format(s, optarg);
		break;
	case 'h':
		cli_help();
	case 'V':
		cli_version();
	default:
		cli_usage(NULL);
	}
}

/* Operands after the first "--", or 0. getopt moves them behind the others and takes it away. */
static size_t after_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return (size_t)(argc - 1 - i);
	}
	return 0;
}

/* "A B"; or "A... -- B..."; or --before and --after. after: how many operands stood behind "--". */
static void take_operands(struct settings *s, char **names, size_t n, size_t after)
{
	struct side *sides = s->sides;
	size_t before = after && after < n ? n - after : n / 2;

	if (sides[0].n || sides[1].n) {
		if (n || !sides[0].n || !sides[1].n)
			cli_usage("--before and --after go together, and without operands");
		return;
	}
	if (n < PROFILE_SIDES || (n != PROFILE_SIDES && before != n - after))
		cli_usage("two operands are needed, before and after, or \"--\" between those before and those after");
	for (size_t i = 0; i < n; i++)
		add_name(&sides[i >= before], names[i]);
}

static void name_sides(struct settings *s)
{
	unsigned int dashes = 0;
	struct buf name = { 0 };

	for (unsigned int number = 0; number < PROFILE_SIDES; number++) {
		struct side *side = &s->sides[number];

		for (size_t i = 0; i < side->n; i++)
			dashes += strcmp(side->names[i], "-") == 0;
		label_append(&name, slice_of(side->names[0]));
		if (side->n > 1)
			snprintf(side->title, sizeof(side->title), "%.200s and %zu more", buf_cstr(&name), side->n - 1);
		else
			snprintf(side->title, sizeof(side->title), "%s", buf_cstr(&name));
		if (name.failed)
			no_memory();
		buf_clear(&name);
	}
	buf_release(&name);
	if (dashes > 1)
		cli_usage("standard input can be one of the two, not both");
}

/* A file that counts twice is a slip of the hand more often than not. */
static void warn_twice(const struct settings *s)
{
	size_t n = s->sides[0].n + s->sides[1].n;
	struct stat *files = calloc(n, sizeof(*files));

	if (!files)
		no_memory();
	for (size_t i = 0; i < n; i++) {
		unsigned int number = i >= s->sides[0].n;
		const char *name = s->sides[number].names[i - (number ? s->sides[0].n : 0)];
		size_t before = 0;

		if (stat(name, &files[i]) != 0 || !S_ISREG(files[i].st_mode))
			continue;
		while (files[before].st_ino != files[i].st_ino || files[before].st_dev != files[i].st_dev)
			before++;
		if (before < i)
			cli_warn("%s: the same file %s", name,
				 (before >= s->sides[0].n) == number ? "twice on one side" : "on both sides");
	}
	free(files);
}

static void check_settings(const struct settings *s)
{
	const char *tested = s->program ? "-o" : s->significant ? "--significant" : s->fail_above >= 0 ? "--fail-above" : NULL;

	if (tested && (s->folded || s->raw))
		cli_usage("%s is for the table in percent, not for %s", tested, s->folded ? "--folded" : "--no-normalize");
}

static void release(struct findings *o, struct settings *s, struct filters *f)
{
	changes_release(&o->changes);
	table_release(&o->table);
	profile_release(&o->p);
	filters_release(f);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		free(s->sides[side].names);
}

int main(int argc, char **argv)
{
	struct settings s = { .rows = ROWS, .fail_above = -1 };
	struct filters f = { .view.no_ids = true };
	size_t after = after_dashes(argc, argv);
	struct findings o = { 0 };
	enum status status;
	int c;

	cli_begin("cprof-diff", usage);
	cli_keep_memory();
	while ((c = getopt_long(argc, argv, FILTER_LETTERS "n:o:hV", options, NULL)) != -1) {
		if (!filters_option(&f, c, optarg))
			take_option(&f, &s, c);
	}
	filters_check(&f);
	filters_keep_apart(&f);
	check_settings(&s);
	take_operands(&s, argv + optind, (size_t)(argc - optind), after);
	name_sides(&s);
	warn_twice(&s);
	if (!profile_init(&o.p))
		no_memory();
	status = load(&f, &o, &s);
	filters_settle(&f, &o.p, PROFILE_SIDES, s.folded ? PROFILE_STACK_MAX : 0);
	filters_shape(&f, &o.p);
	if (!comparable(s.sides)) {
		status = STATUS_DAMAGED;
	} else {
		enum status verdict;

		if (f.view.by == BY_FUNCTION || f.view.by == BY_MODULE)
			warn_truncated(s.sides);
		if (f.view.by == BY_FUNCTION) {
			warn_unnamed(&o.p, s.sides);
			warn_rebuilt(&f.modules, s.sides);
		}
		verdict = print(&o, &s, &f);
		status = status ? status : verdict;
	}
	cli_stdout_done();
	release(&o, &s, &f);
	return status;
}
