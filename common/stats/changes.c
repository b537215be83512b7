#include "common/stats/changes.h"

#include <math.h>
#include <stdlib.h>

/* Samples that a name must have on both sides together before its spread says anything about that of others. */
enum { ENOUGH = 20 };
/* Blocks that are so much alike though another one lies between them are shorter than bursts. */
#define LONG 0.3

/* One test: a change, or the two of a row that are the same. */
struct test {
	struct change *change;
	uint32_t label;
	uint8_t kind;
};

/* Variance between parts; sums are NULL where there is none. */
struct parts {
	struct spread blocks, runs;
};

struct work {
	struct test *tests;
	double *values, *q;
	struct parts parts;
};

static struct change *change_of(struct changes *c, uint32_t label, unsigned int kind)
{
	return kind == SPREAD_FLAT ? &c->by_label[label].flat : &c->by_label[label].cum;
}

struct compare changes_counts(const uint64_t *weight, const struct profile *p, const struct changes_setup *setup)
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

			change->counts = changes_counts(weights[kind], p, setup);
			change->p = change->q = 1;
			if (kind == SPREAD_FLAT && ((!row->flat[0] && !row->flat[1]) ||
						    (row->flat[0] == row->cum[0] && row->flat[1] == row->cum[1])))
				continue;
			w->tests[c->tests++] = (struct test){ change, row->label, (uint8_t)kind };
		}
	}
}

/* How many times more the shares vary than those of independent samples, over the sides that can tell. */
static double design_of(const struct spread *s, const struct compare *counts, uint32_t unit, bool *known)
{
	double measured = 0, independent = 0;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		double n = counts->n[side], share = n > 0 ? counts->k[side] / n : 0;

		if (s->clusters[side] < 2 || !(n > 0))
			continue;
		measured += spread_variance(s, side, unit);
		independent += share * (1 - share) / n;
	}
	*known = independent > 0;
	return *known ? measured / independent : 1;
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
	double df = spread_degrees(&w->parts.runs);
	bool good = list != NULL, known;

	for (unsigned int kind = 0; good && kind < SPREAD_KINDS; kind++) {
		size_t n = 0;

		/* Once a row: each has one test of its cum. */
		for (size_t i = 0; i < c->tests; i++) {
			uint32_t label = w->tests[i].label;
			const struct compare *counts = &change_of((struct changes *)c, label, kind)->counts;

			if (w->tests[i].kind != SPREAD_CUM || !enough(counts))
				continue;
			list[n].design = design_of(&w->parts.runs, counts, spread_name(label, kind), &known);
			list[n].size = size_of(counts);
			n += known;
		}
		good = moderate_fit(&m[kind], list, n, df);
	}
	free(list);
	m[SPREAD_CUM].prior_df = fmin(m[SPREAD_CUM].prior_df, m[SPREAD_FLAT].prior_df);
	return good;
}

/* The wider of blocks and runs. */
static void set_design(struct compare *counts, const struct changes *c, const struct parts *parts, uint32_t unit,
		       unsigned int kind)
{
	bool known;

	counts->df = c->df;
	counts->design = 1;
	if (parts->blocks.sums)
		counts->design = fmax(1, design_of(&parts->blocks, counts, unit, &known));
	if (parts->runs.sums) {
		double between = design_of(&parts->runs, counts, unit, &known);

		if (known)
			counts->design = fmax(counts->design, moderate_one(&c->moderate[kind], between, size_of(counts)));
	}
}

/* How much of the variance between blocks the last of the next ones still add, over all tests. */
static bool still_growing(const struct changes *c, const struct work *w)
{
	const struct spread *s = &w->parts.blocks;
	double all = 0, last = 0;

	for (size_t i = 0; s->sums && i < c->tests; i++) {
		const struct compare *counts = &w->tests[i].change->counts;
		uint32_t unit = spread_name(w->tests[i].label, w->tests[i].kind);
		double k = size_of(counts);

		if (!enough(counts) || !(k > 0))
			continue;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			all += spread_covariance(s, side, unit, 0) / k;
			last += spread_covariance(s, side, unit, s->lags) / k;
		}
	}
	return last > LONG * all;
}

static bool set_designs(struct changes *c, struct work *w)
{
	if (w->parts.runs.sums && !moderate_runs(c, w, c->moderate))
		return false;
	c->df = c->moderate[SPREAD_FLAT].df > 0 ? c->moderate[SPREAD_FLAT].df : spread_degrees(&w->parts.blocks);
	for (size_t i = 0; i < c->tests; i++) {
		struct test *t = &w->tests[i];

		set_design(&t->change->counts, c, &w->parts, spread_name(t->label, t->kind), t->kind);
	}
	c->long_bursts = still_growing(c, w);
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

static bool spread_of(struct spread *s, const struct profile *p, enum spread_by by, const bool *use,
		      const uint32_t *numbers, size_t n)
{
	return numbers ? spread_nodes(s, p, by, use, numbers, n) : spread_names(s, p, by, use);
}

/* Of names; or of nodes that have numbers. */
static bool measure(struct parts *parts, const struct profile *p, const struct changes_setup *setup,
		    const uint32_t *numbers, size_t n)
{
	bool several[PROFILE_SIDES], any = false, many = true;

	if (setup->timed[0] || setup->timed[1]) {
		if (!spread_of(&parts->blocks, p, SPREAD_BLOCKS, setup->timed, numbers, n))
			return false;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			many = many && (!setup->timed[side] || parts->blocks.clusters[side] >= SPREAD_LEAST);
		if (!many)
			spread_release(&parts->blocks);
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		several[side] = setup->runs[side] > 1;
		any = any || several[side];
	}
	return !any || spread_of(&parts->runs, p, SPREAD_RUNS, several, numbers, n);
}

static void note_parts(struct changes *c, const struct parts *parts)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		c->blocks[side] = parts->blocks.clusters[side];
		c->slices[side] = parts->blocks.slices[side];
		c->runs[side] = parts->runs.clusters[side];
	}
}

static void release_parts(struct parts *parts)
{
	spread_release(&parts->blocks);
	spread_release(&parts->runs);
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
	good = c->by_label && w.tests && w.values && w.q && measure(&w.parts, p, setup, NULL, 0);
	if (good) {
		note_parts(c, &w.parts);
		list_tests(c, t, p, setup, &w);
		good = set_designs(c, &w);
	}
	if (good) {
		find_median(c, &w);
		good = test_all(c, t, &w);
	}
	if (good)
		set_intervals(c, t);
	release_parts(&w.parts);
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

bool changes_nodes(const struct changes *c, const struct profile *p, const struct changes_setup *setup,
		   const uint32_t *numbers, struct compare *counts, size_t n)
{
	struct parts parts = { 0 };
	bool good = measure(&parts, p, setup, numbers, n);

	for (size_t i = 0; good && i < n; i++)
		set_design(&counts[i], c, &parts, (uint32_t)i, SPREAD_CUM);
	release_parts(&parts);
	return good;
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
	struct compare counts = changes_counts(p->total, p, setup);

	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		counts.k[side] = share * counts.n[side];
	counts.design = c->design;
	return compare_detectable(&counts, c->critical, COMPARE_POWER_80);
}
