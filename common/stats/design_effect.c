#include "common/stats/design_effect.h"

#include <math.h>
#include <stdlib.h>

#include "common/stats/effective_tests.h"

/*
 * Least number of samples of a name on both sides together. With fewer, its spread says nothing about others.
 */
enum { ENOUGH = 20 };

bool design_effect_enough(const struct compare *counts)
{
	return counts->k[0] + counts->k[1] >= ENOUGH;
}

/* Returns the samples times the share of all other functions. */
double design_effect_size(const struct compare *counts)
{
	double k = counts->k[0] + counts->k[1], n = counts->n[0] + counts->n[1];

	return n > 0 ? k * (1 - k / n) : 0;
}

static bool spread_of(struct variance *s, const struct profile *p, enum variance_by by, const bool *use,
		      const uint32_t *numbers, size_t n)
{
	return numbers ? variance_nodes(s, p, by, use, numbers, n) : variance_names(s, p, by, use);
}

static enum design_effect_basis basis_of(const struct design_effect *d)
{
	if (!d->runs.sums)
		return d->blocks.sums ? DESIGN_EFFECT_BLOCKS : DESIGN_EFFECT_NONE;
	return d->blocks.sums && variance_degrees(&d->runs) < DESIGN_EFFECT_RUNS ? DESIGN_EFFECT_MIXED : DESIGN_EFFECT_BETWEEN;
}

bool design_effect_measure(struct design_effect *d, const struct profile *p, const struct changes_setup *setup,
		     const uint32_t *numbers, size_t n)
{
	bool several[PROFILE_SIDES], many = true;

	*d = (struct design_effect){ 0 };
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		several[side] = setup->runs[side] > 1;
	if ((several[0] || several[1]) && !spread_of(&d->runs, p, VARIANCE_RUNS, several, numbers, n))
		return false;
	if ((setup->timed[0] || setup->timed[1]) && variance_degrees(&d->runs) < DESIGN_EFFECT_RUNS) {
		if (!spread_of(&d->blocks, p, VARIANCE_BLOCKS, setup->timed, numbers, n))
			return false;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			many = many && (!setup->timed[side] || d->blocks.clusters[side] >= VARIANCE_LEAST);
		if (!many)
			variance_release(&d->blocks);
	}
	d->model.basis = basis_of(d);
	return true;
}

/* Returns the variance of the shares over that of independent samples, from the sides that were measured. */
static double design_of(const struct variance *s, const struct compare *counts, uint32_t unit, bool *known)
{
	double measured = 0, independent = 0;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		double n = counts->n[side], share = n > 0 ? counts->k[side] / n : 0;

		if (s->clusters[side] < 2 || !(n > 0))
			continue;
		measured += variance_variance(s, side, unit);
		independent += share * (1 - share) / n;
	}
	*known = independent > 0;
	return *known ? measured / independent : 1;
}

/* Returns the effective number of functions, from flat weights with enough samples. 0: out of memory. */
static double count_independent(const struct profile *p, const struct variance *runs,
				const struct design_effect_row *rows, size_t n)
{
	bool use[PROFILE_SIDES] = { runs->clusters[0] > 1, runs->clusters[1] > 1 };
	uint32_t *labels = malloc((n + 1) * sizeof(*labels));
	double count = 0;
	size_t kept = 0;

	for (size_t i = 0; labels && i < n; i++) {
		if (design_effect_enough(rows[i].counts[VARIANCE_FLAT]))
			labels[kept++] = rows[i].label;
	}
	if (labels)
		count = effective_tests_independent(p, use, labels, kept);
	free(labels);
	return count;
}

/*
 * Fits separate trends to flat and cum weights, because variation evens out below a function. The similarity
 * of functions is taken from flat weights, which are of different samples.
 */
static bool fit_between(struct design_effect *d, const struct design_effect_row *rows, size_t n, double alone)
{
	struct shrinkage *m = d->model.moderate;
	struct shrinkage_value *list = malloc((n + 1) * sizeof(*list));
	bool good = list != NULL, known;

	for (unsigned int kind = 0; good && kind < VARIANCE_KINDS; kind++) {
		size_t kept = 0;

		for (size_t i = 0; i < n; i++) {
			const struct compare *counts = rows[i].counts[kind];

			if (!design_effect_enough(counts))
				continue;
			list[kept].design = design_of(&d->runs, counts, variance_name(rows[i].label, kind), &known);
			list[kept].size = design_effect_size(counts);
			kept += known;
		}
		good = shrinkage_fit(&m[kind], list, kept, variance_degrees(&d->runs), alone);
	}
	free(list);
	m[VARIANCE_CUM].prior_df = fmin(m[VARIANCE_CUM].prior_df, m[VARIANCE_FLAT].prior_df);
	m[VARIANCE_CUM].df = m[VARIANCE_FLAT].df;
	d->model.df = m[VARIANCE_FLAT].df;
	return good;
}

static double mean_design(double blocks, double runs, double df)
{
	return fmax(blocks, (DESIGN_EFFECT_RUNS * blocks + df * runs) / (DESIGN_EFFECT_RUNS + df));
}

static double blocks_of(const struct design_effect *d, const struct compare *counts, uint32_t unit)
{
	bool known;

	return fmax(1, design_of(&d->blocks, counts, unit, &known));
}

static void fit_mixed(struct design_effect *d, const struct design_effect_row *rows, size_t n, double alone)
{
	double sum = 0, measured = 0;

	for (size_t i = 0; i < n; i++) {
		const struct compare *counts = rows[i].counts[VARIANCE_FLAT];
		uint32_t unit = variance_name(rows[i].label, VARIANCE_FLAT);
		bool known;
		double between = design_of(&d->runs, counts, unit, &known);

		if (!known || !design_effect_enough(counts))
			continue;
		sum += between / blocks_of(d, counts, unit);
		measured++;
	}
	d->model.df = variance_degrees(&d->blocks);
	d->model.factor = measured > 0 ? mean_design(1, sum / measured, alone * variance_degrees(&d->runs)) : 1;
}

bool design_effect_fit(struct design_effect *d, const struct profile *p, const struct design_effect_row *rows, size_t n)
{
	double alone;

	d->model.df = variance_degrees(&d->blocks);
	if (!d->runs.sums)
		return true;
	alone = count_independent(p, &d->runs, rows, n);
	if (!(alone > 0))
		return false;
	if (d->model.basis == DESIGN_EFFECT_BETWEEN)
		return fit_between(d, rows, n, alone);
	fit_mixed(d, rows, n, alone);
	return true;
}

void design_effect_set(const struct design_effect *d, uint32_t unit, double own, struct compare *counts)
{
	const struct design_effect_model *m = &d->model;
	double design = 1, between = 0;
	bool known = false;

	if (d->runs.sums)
		between = design_of(&d->runs, counts, unit, &known);
	if (d->blocks.sums)
		design = blocks_of(d, counts, unit);
	if (m->basis == DESIGN_EFFECT_BETWEEN && known) {
		double size = design_effect_size(counts);

		design = own * shrinkage_one(&m->moderate[VARIANCE_FLAT], between, size) +
			 (1 - own) * shrinkage_one(&m->moderate[VARIANCE_CUM], between, size);
	} else if (m->basis == DESIGN_EFFECT_MIXED) {
		design *= m->factor;
		design = known ? mean_design(design, between, variance_degrees(&d->runs)) : design;
	}
	counts->design = fmax(1, design);
	counts->df = m->df;
}

void design_effect_release(struct design_effect *d)
{
	variance_release(&d->blocks);
	variance_release(&d->runs);
}
