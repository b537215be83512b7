#include "common/stats/design_effect.h"

#include <math.h>
#include <stdlib.h>

#include "common/stats/effective_tests.h"

/*
 * Least number of samples of a name on both sides together. With fewer, its spread says nothing about others.
 */
enum { ENOUGH = 20 };

bool designs_enough(const struct compare *counts)
{
	return counts->k[0] + counts->k[1] >= ENOUGH;
}

/* Returns the samples times the share of all other functions. */
double designs_size(const struct compare *counts)
{
	double k = counts->k[0] + counts->k[1], n = counts->n[0] + counts->n[1];

	return n > 0 ? k * (1 - k / n) : 0;
}

static bool spread_of(struct spread *s, const struct profile *p, enum spread_by by, const bool *use,
		      const uint32_t *numbers, size_t n)
{
	return numbers ? spread_nodes(s, p, by, use, numbers, n) : spread_names(s, p, by, use);
}

static enum designs_basis basis_of(const struct designs *d)
{
	if (!d->runs.sums)
		return d->blocks.sums ? DESIGNS_BLOCKS : DESIGNS_NONE;
	return d->blocks.sums && spread_degrees(&d->runs) < DESIGNS_RUNS ? DESIGNS_MIXED : DESIGNS_BETWEEN;
}

bool designs_measure(struct designs *d, const struct profile *p, const struct changes_setup *setup,
		     const uint32_t *numbers, size_t n)
{
	bool several[PROFILE_SIDES], many = true;

	*d = (struct designs){ 0 };
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		several[side] = setup->runs[side] > 1;
	if ((several[0] || several[1]) && !spread_of(&d->runs, p, SPREAD_RUNS, several, numbers, n))
		return false;
	if ((setup->timed[0] || setup->timed[1]) && spread_degrees(&d->runs) < DESIGNS_RUNS) {
		if (!spread_of(&d->blocks, p, SPREAD_BLOCKS, setup->timed, numbers, n))
			return false;
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			many = many && (!setup->timed[side] || d->blocks.clusters[side] >= SPREAD_LEAST);
		if (!many)
			spread_release(&d->blocks);
	}
	d->model.basis = basis_of(d);
	return true;
}

/* Returns the variance of the shares over that of independent samples, from the sides that were measured. */
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

/* Returns the effective number of functions, from flat weights with enough samples. 0: out of memory. */
static double count_independent(const struct profile *p, const struct spread *runs,
				const struct designs_row *rows, size_t n)
{
	bool use[PROFILE_SIDES] = { runs->clusters[0] > 1, runs->clusters[1] > 1 };
	uint32_t *labels = malloc((n + 1) * sizeof(*labels));
	double count = 0;
	size_t kept = 0;

	for (size_t i = 0; labels && i < n; i++) {
		if (designs_enough(rows[i].counts[SPREAD_FLAT]))
			labels[kept++] = rows[i].label;
	}
	if (labels)
		count = together_independent(p, use, labels, kept);
	free(labels);
	return count;
}

/*
 * Fits separate trends to flat and cum weights, because variation evens out below a function. The similarity
 * of functions is taken from flat weights, which are of different samples.
 */
static bool fit_between(struct designs *d, const struct designs_row *rows, size_t n, double alone)
{
	struct moderate *m = d->model.moderate;
	struct moderate_value *list = malloc((n + 1) * sizeof(*list));
	bool good = list != NULL, known;

	for (unsigned int kind = 0; good && kind < SPREAD_KINDS; kind++) {
		size_t kept = 0;

		for (size_t i = 0; i < n; i++) {
			const struct compare *counts = rows[i].counts[kind];

			if (!designs_enough(counts))
				continue;
			list[kept].design = design_of(&d->runs, counts, spread_name(rows[i].label, kind), &known);
			list[kept].size = designs_size(counts);
			kept += known;
		}
		good = moderate_fit(&m[kind], list, kept, spread_degrees(&d->runs), alone);
	}
	free(list);
	m[SPREAD_CUM].prior_df = fmin(m[SPREAD_CUM].prior_df, m[SPREAD_FLAT].prior_df);
	m[SPREAD_CUM].df = m[SPREAD_FLAT].df;
	d->model.df = m[SPREAD_FLAT].df;
	return good;
}

static double mean_design(double blocks, double runs, double df)
{
	return fmax(blocks, (DESIGNS_RUNS * blocks + df * runs) / (DESIGNS_RUNS + df));
}

static double blocks_of(const struct designs *d, const struct compare *counts, uint32_t unit)
{
	bool known;

	return fmax(1, design_of(&d->blocks, counts, unit, &known));
}

static void fit_mixed(struct designs *d, const struct designs_row *rows, size_t n, double alone)
{
	double sum = 0, measured = 0;

	for (size_t i = 0; i < n; i++) {
		const struct compare *counts = rows[i].counts[SPREAD_FLAT];
		uint32_t unit = spread_name(rows[i].label, SPREAD_FLAT);
		bool known;
		double between = design_of(&d->runs, counts, unit, &known);

		if (!known || !designs_enough(counts))
			continue;
		sum += between / blocks_of(d, counts, unit);
		measured++;
	}
	d->model.df = spread_degrees(&d->blocks);
	d->model.factor = measured > 0 ? mean_design(1, sum / measured, alone * spread_degrees(&d->runs)) : 1;
}

bool designs_fit(struct designs *d, const struct profile *p, const struct designs_row *rows, size_t n)
{
	double alone;

	d->model.df = spread_degrees(&d->blocks);
	if (!d->runs.sums)
		return true;
	alone = count_independent(p, &d->runs, rows, n);
	if (!(alone > 0))
		return false;
	if (d->model.basis == DESIGNS_BETWEEN)
		return fit_between(d, rows, n, alone);
	fit_mixed(d, rows, n, alone);
	return true;
}

void designs_set(const struct designs *d, uint32_t unit, double own, struct compare *counts)
{
	const struct designs_model *m = &d->model;
	double design = 1, between = 0;
	bool known = false;

	if (d->runs.sums)
		between = design_of(&d->runs, counts, unit, &known);
	if (d->blocks.sums)
		design = blocks_of(d, counts, unit);
	if (m->basis == DESIGNS_BETWEEN && known) {
		double size = designs_size(counts);

		design = own * moderate_one(&m->moderate[SPREAD_FLAT], between, size) +
			 (1 - own) * moderate_one(&m->moderate[SPREAD_CUM], between, size);
	} else if (m->basis == DESIGNS_MIXED) {
		design *= m->factor;
		design = known ? mean_design(design, between, spread_degrees(&d->runs)) : design;
	}
	counts->design = fmax(1, design);
	counts->df = m->df;
}

void designs_release(struct designs *d)
{
	spread_release(&d->blocks);
	spread_release(&d->runs);
}
