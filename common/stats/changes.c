#include "common/stats/changes.h"

#include <math.h>
#include <stdlib.h>

#include "common/stats/moderate.h"
#include "common/stats/spread.h"

/* Samples that a name must have on both sides together before its spread says anything about that of others. */
enum { ENOUGH = 20 };

/* One test: a change, or the two of a row that are the same. */
struct test {
	struct change *change;
	uint32_t label;
	uint8_t kind;
	double between_runs; /* design effect, as measured */
};

struct work {
	struct test *tests;
	double *values, *q;
	struct spread blocks, runs;
};

static struct change *change_of(struct changes *c, uint32_t label, unsigned int kind)
{
	return kind == SPREAD_FLAT ? &c->by_label[label].flat : &c->by_label[label].cum;
}

static struct compare counts_of(const uint64_t *weight, const struct profile *p, const struct changes_setup *setup)
{
	struct compare counts = { 0 };

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		double unit = setup->unit[side];

		if (!(unit > 0) || !isfinite(unit))
			continue;
		counts.k[side] = (double)weight[side] / unit;
		counts.n[side] = (double)p->total[side] / unit;
	}
	return counts;
}

/* The flat and the cum of each row, but no flat that is the cum too, and none of nothing. */
static void list_tests(struct changes *c, const struct table *t, const struct profile *p,
		       const struct changes_setup *setup, struct work *w)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct table_row *row = &t->rows[i];
		const uint64_t *weights[SPREAD_KINDS] = { row->flat, row->cum };

		for (unsigned int kind = 0; kind < SPREAD_KINDS; kind++) {
			struct change *change = change_of(c, row->label, kind);

			change->counts = counts_of(weights[kind], p, setup);
			change->p = change->q = 1;
			if (kind == SPREAD_FLAT && ((!row->flat[0] && !row->flat[1]) ||
						    (row->flat[0] == row->cum[0] && row->flat[1] == row->cum[1])))
				continue;
			w->tests[c->tests++] = (struct test){ change, row->label, (uint8_t)kind, 0 };
		}
	}
}

/* How many times more the shares vary than those of independent samples, over the sides that can tell. */
static double design_of(const struct spread *s, const struct compare *counts, const struct test *t, bool *known)
{
	double measured = 0, independent = 0;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		double n = counts->n[side], share = n > 0 ? counts->k[side] / n : 0;

		if (s->clusters[side] < 2 || !(n > 0))
			continue;
		measured += spread_variance(s, side, t->label, t->kind);
		independent += share * (1 - share) / n;
	}
	*known = independent > 0;
	return *known ? measured / independent : 1;
}

static double degrees(const uint32_t *parts)
{
	double df = 0;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		df += parts[side] > 1 ? parts[side] - 1 : 0;
	return df;
}

static bool enough(const struct compare *counts)
{
	return counts->k[0] + counts->k[1] >= ENOUGH;
}

/* What grows with the variance of a share: its samples, times the share of all others. */
static double size_of(const struct compare *counts)
{
	double k = counts->k[0] + counts->k[1], n = counts->n[0] + counts->n[1];

	return n > 0 ? k * (1 - k / n) : 0;
}

/*
 * Flat and cum weights have their own trends: what is below a function evens out. How alike functions are is asked
 * of the flat ones, which are of different samples.
 */
static bool moderate_runs(const struct changes *c, const struct work *w, struct moderate *m)
{
	struct moderate_value *list = malloc((c->tests + 1) * sizeof(*list));
	double df = degrees(w->runs.clusters);
	bool good = list != NULL, known;

	for (unsigned int kind = 0; good && kind < SPREAD_KINDS; kind++) {
		size_t n = 0;

		/* Once a row: each has one test of its cum. */
		for (size_t i = 0; i < c->tests; i++) {
			struct test t = { .label = w->tests[i].label, .kind = (uint8_t)kind };
			const struct compare *counts = &change_of((struct changes *)c, t.label, kind)->counts;

			if (w->tests[i].kind != SPREAD_CUM || !enough(counts))
				continue;
			list[n] = (struct moderate_value){ design_of(&w->runs, counts, &t, &known), size_of(counts) };
			n += known;
		}
		good = moderate_fit(&m[kind], list, n, df);
	}
	free(list);
	m[SPREAD_CUM].prior_df = fmin(m[SPREAD_CUM].prior_df, m[SPREAD_FLAT].prior_df);
	return good;
}

static bool set_designs(struct changes *c, struct work *w)
{
	struct moderate m[SPREAD_KINDS] = { 0 };
	bool known;

	if (w->runs.sums && !moderate_runs(c, w, m))
		return false;
	c->df = m[SPREAD_FLAT].df > 0 ? m[SPREAD_FLAT].df : degrees(w->blocks.clusters);
	for (size_t i = 0; i < c->tests; i++) {
		struct test *t = &w->tests[i];
		struct compare *counts = &t->change->counts;

		counts->df = c->df;
		counts->design = 1;
		if (w->blocks.sums)
			counts->design = fmax(1, design_of(&w->blocks, counts, t, &known));
		if (w->runs.sums) {
			double between = design_of(&w->runs, counts, t, &known);

			if (known)
				counts->design = fmax(counts->design, moderate_one(&m[t->kind], between, size_of(counts)));
		}
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void find_median(struct changes *c, struct work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < c->tests; i++) {
		if (enough(&w->tests[i].change->counts))
			w->values[n++] = w->tests[i].change->counts.design;
	}
	qsort(w->values, n, sizeof(*w->values), by_value);
	c->design = n ? w->values[n / 2] : 1;
}

static bool test_all(struct changes *c, const struct table *t, struct work *w)
{
	for (size_t i = 0; i < c->tests; i++) {
		struct change *change = w->tests[i].change;

		change->p = w->values[i] = compare_p(&change->counts);
	}
	if (!compare_adjust(w->values, NULL, c->tests, COMPARE_RATE, w->q))
		return false;
	for (size_t i = 0; i < c->tests; i++)
		w->tests[i].change->q = w->q[i];
	for (size_t i = 0; i < t->n; i++) {
		struct changes_row *row = &c->by_label[t->rows[i].label];

		if (t->rows[i].flat[0] == t->rows[i].cum[0] && t->rows[i].flat[1] == t->rows[i].cum[1])
			row->flat = row->cum;
		c->changed += changes_significant(row);
	}
	return true;
}

/* Intervals are of one change each; what another change must reach depends on how many there are. */
static void set_intervals(struct changes *c, const struct table *t)
{
	double z = compare_critical(0.05, c->df);
	size_t passed = c->changed ? c->changed : 1;

	for (size_t i = 0; i < t->n; i++) {
		for (unsigned int kind = 0; kind < SPREAD_KINDS; kind++) {
			struct change *change = change_of(c, t->rows[i].label, kind);

			change->interval = compare_interval(&change->counts, z);
		}
	}
	c->critical = compare_critical(fmin(1, COMPARE_RATE * (double)passed / (double)(c->tests ? c->tests : 1)), c->df);
}

static bool measure(struct changes *c, const struct profile *p, const struct changes_setup *setup, struct work *w)
{
	bool several[PROFILE_SIDES], any = false, parts = true;

	if (setup->timed[0] || setup->timed[1]) {
		if (!spread_init(&w->blocks, p, SPREAD_BLOCKS, setup->timed))
			return false;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			parts = parts && (!setup->timed[side] || w->blocks.clusters[side] >= SPREAD_LEAST);
		if (!parts)
			spread_release(&w->blocks);
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		several[side] = setup->runs[side] > 1;
		any = any || several[side];
	}
	if (any && !spread_init(&w->runs, p, SPREAD_RUNS, several))
		return false;
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		c->blocks[side] = w->blocks.clusters[side];
		c->slices[side] = w->blocks.slices[side];
		c->runs[side] = w->runs.clusters[side];
	}
	return true;
}

bool changes_init(struct changes *c, const struct table *t, const struct profile *p,
		  const struct changes_setup *setup)
{
	size_t most = SPREAD_KINDS * t->n + 1;
	struct work w = { 0 };
	bool good;

	*c = (struct changes){ .by_label = calloc(p->labels.n + 1, sizeof(*c->by_label)) };
	w.tests = malloc(most * sizeof(*w.tests));
	w.values = malloc(most * sizeof(*w.values));
	w.q = malloc(most * sizeof(*w.q));
	good = c->by_label && w.tests && w.values && w.q && measure(c, p, setup, &w);
	if (good) {
		list_tests(c, t, p, setup, &w);
		good = set_designs(c, &w);
	}
	if (good) {
		find_median(c, &w);
		good = test_all(c, t, &w);
	}
	if (good)
		set_intervals(c, t);
	spread_release(&w.blocks);
	spread_release(&w.runs);
	free(w.tests);
	free(w.values);
	free(w.q);
	return good;
}

void changes_release(struct changes *c)
{
	free(c->by_label);
	*c = (struct changes){ 0 };
}

bool changes_significant(const struct changes_row *row)
{
	return row->flat.q < COMPARE_RATE || row->cum.q < COMPARE_RATE;
}

double changes_detectable(const struct changes *c, const struct change *of)
{
	return compare_detectable(&of->counts, c->critical, COMPARE_POWER_80);
}

double changes_detectable_at(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
			     double share)
{
	struct compare counts = counts_of(p->total, p, setup);

	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		counts.k[side] = share * counts.n[side];
	counts.design = c->design;
	return compare_detectable(&counts, c->critical, COMPARE_POWER_80);
}
