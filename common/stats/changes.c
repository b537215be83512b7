#include "common/stats/changes.h"

#include <math.h>
#include <stdlib.h>

/* If blocks that are not adjacent correlate by more than this, bursts are longer than blocks. */
#define LONG 0.3

/* One test: the flat or cum change of a row, or both if they are the same. */
struct test {
	struct change *change;
	uint32_t label;
	uint8_t kind;
};

struct work {
	struct test *tests;
	double *values, *q;
	struct design_effect designs;
	struct design_effect_row *rows;
};

static struct change *change_of(struct changes *c, uint32_t label, unsigned int kind)
{
	return kind == VARIANCE_FLAT ? &c->by_label[label].flat : &c->by_label[label].cum;
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

/* Lists the tests: flat and cum of each row, except a flat that equals the cum or is 0. */
static void list_tests(struct changes *c, const struct table *t, const struct profile *p,
		       const struct changes_setup *setup, struct work *w)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct table_row *row = &t->rows[i];
		const uint64_t *weights[VARIANCE_KINDS] = { row->flat, row->cum };

		for (unsigned int kind = 0; kind < VARIANCE_KINDS; kind++) {
			struct change *change = change_of(c, row->label, kind);

			change->counts = changes_counts(weights[kind], p, setup);
			change->p = change->q = 1;
			if (kind == VARIANCE_FLAT && ((!row->flat[0] && !row->flat[1]) ||
						    (row->flat[0] == row->cum[0] && row->flat[1] == row->cum[1])))
				continue;
			w->tests[c->tests++] = (struct test){ change, row->label, (uint8_t)kind };
		}
	}
}

/*
 * Returns whether the covariance at the last lag is large beside the variance between blocks, over all tests.
 */
static bool still_growing(const struct changes *c, const struct work *w)
{
	const struct variance *s = &w->designs.blocks;
	double all = 0, last = 0;

	for (size_t i = 0; s->sums && i < c->tests; i++) {
		const struct compare *counts = &w->tests[i].change->counts;
		uint32_t unit = variance_name(w->tests[i].label, w->tests[i].kind);
		double k = design_effect_size(counts);

		if (!design_effect_enough(counts) || !(k > 0))
			continue;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			all += variance_covariance(s, side, unit, 0) / k;
			last += variance_covariance(s, side, unit, s->lags) / k;
		}
	}
	return last > LONG * all;
}

/* Returns the part of a function's cum samples that are its own. */
static double own_share(const struct compare *flat, const struct compare *cum)
{
	double k = cum->k[0] + cum->k[1];

	return k > 0 ? fmin(1, (flat->k[0] + flat->k[1]) / k) : 0;
}

static bool set_designs(struct changes *c, const struct table *t, const struct profile *p, struct work *w)
{
	for (size_t i = 0; i < t->n; i++) {
		uint32_t label = t->rows[i].label;

		w->rows[i] = (struct design_effect_row){ { &c->by_label[label].flat.counts, &c->by_label[label].cum.counts }, label };
	}
	if (!design_effect_fit(&w->designs, p, w->rows, t->n))
		return false;
	c->model = w->designs.model;
	for (size_t i = 0; i < c->tests; i++) {
		struct test *test = &w->tests[i];
		const struct changes_row *row = &c->by_label[test->label];
		double own = test->kind == VARIANCE_FLAT ? 1 : own_share(&row->flat.counts, &row->cum.counts);

		design_effect_set(&w->designs, variance_name(test->label, test->kind), own, &test->change->counts);
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
		if (design_effect_enough(&w->tests[i].change->counts))
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

/*
 * Returns an interval that agrees with the verdict. Test and interval use different approximations, and
 * whether 0 is a possible change is decided by the test.
 */
static struct interval agree(struct interval i, const struct change *change)
{
	const struct compare *c = &change->counts;
	bool grew = c->k[1] * c->n[0] > c->k[0] * c->n[1];

	if (change->q >= COMPARE_RATE)
		return (struct interval){ fmin(i.low, 0), fmax(i.high, 0) };
	return grew ? (struct interval){ fmax(i.low, 0), i.high } : (struct interval){ i.low, fmin(i.high, 0) };
}

/* Sets the intervals; the critical value depends on the number of changes. */
static void set_intervals(struct changes *c, const struct table *t)
{
	double z = compare_critical(0.05, c->model.df);
	size_t passed = c->changed ? c->changed : 1;

	c->critical = compare_critical(fmin(1, COMPARE_RATE * (double)passed / (double)(c->tests ? c->tests : 1)), c->model.df);
	for (size_t i = 0; i < t->n; i++) {
		for (unsigned int kind = 0; kind < VARIANCE_KINDS; kind++) {
			struct change *change = change_of(c, t->rows[i].label, kind);

			change->interval = compare_interval(&change->counts, z);
			change->adjusted = agree(compare_interval(&change->counts, c->critical), change);
		}
	}
}

static void note_parts(struct changes *c, const struct design_effect *d)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		c->blocks[side] = d->blocks.clusters[side];
		c->slices[side] = d->blocks.slices[side];
		c->runs[side] = d->runs.clusters[side];
	}
}

bool changes_init(struct changes *c, const struct table *t, const struct profile *p,
		  const struct changes_setup *setup)
{
	size_t most = VARIANCE_KINDS * t->n + 1;
	struct work w = { 0 };
	bool good;

	*c = (struct changes){ .by_label = calloc(p->labels.n + 1, sizeof(*c->by_label)) };
	w.tests = malloc(most * sizeof(*w.tests));
	w.values = malloc(most * sizeof(*w.values));
	w.q = malloc(most * sizeof(*w.q));
	w.rows = malloc((t->n + 1) * sizeof(*w.rows));
	good = c->by_label && w.tests && w.values && w.q && w.rows && design_effect_measure(&w.designs, p, setup, NULL, 0);
	if (good) {
		note_parts(c, &w.designs);
		list_tests(c, t, p, setup, &w);
		good = set_designs(c, t, p, &w);
	}
	if (good) {
		find_median(c, &w);
		good = test_all(c, t, &w);
	}
	if (good)
		set_intervals(c, t);
	design_effect_release(&w.designs);
	free(w.rows);
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
	struct design_effect designs;
	bool good = design_effect_measure(&designs, p, setup, numbers, n);

	designs.model = c->model;
	for (size_t i = 0; good && i < p->n; i++) {
		struct compare self, *all;

		if (numbers[i] == VARIANCE_NONE)
			continue;
		all = &counts[numbers[i]];
		self = changes_counts(p->nodes[i].self, p, setup);
		design_effect_set(&designs, numbers[i], own_share(&self, all), all);
	}
	design_effect_release(&designs);
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
