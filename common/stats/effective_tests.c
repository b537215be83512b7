#include "common/stats/effective_tests.h"

#include <math.h>
#include <stdlib.h>

/* With more runs than this, a function's own variance is known well enough. */
enum { RUNS_MOST = 64 };
#define NO_ROW UINT32_MAX

struct runs {
	uint32_t n;
	unsigned int side[RUNS_MOST];
	double weight[RUNS_MOST], all[PROFILE_SIDES];
	uint32_t count[PROFILE_SIDES]; /* number of runs with weight */
};

static void weigh_runs(struct runs *r, const struct profile *p, const bool *use)
{
	for (size_t i = 0; i < p->n_moments; i++) {
		const struct profile_moment *m = &p->moments[i];

		if (!use[m->side] || m->run >= r->n)
			continue;
		r->side[m->run] = m->side;
		r->weight[m->run] += (double)m->weight;
	}
	for (uint32_t run = 0; run < r->n; run++) {
		r->all[r->side[run]] += r->weight[run];
		r->count[r->side[run]] += r->weight[run] > 0;
	}
}

/* Returns the weight of each label in each run, rows of r->n. The caller frees it; NULL: out of memory. */
static double *weigh_labels(const struct runs *r, const struct profile *p, const bool *use, const uint32_t *labels,
			    size_t n)
{
	double *values = calloc(n * r->n + 1, sizeof(*values));
	uint32_t *rows = malloc((p->labels.n + 1) * sizeof(*rows));

	for (size_t i = 0; rows && i < p->labels.n; i++)
		rows[i] = NO_ROW;
	for (size_t i = 0; rows && i < n; i++)
		rows[labels[i]] = (uint32_t)i;
	for (size_t i = 0; values && rows && i < p->n_moments; i++) {
		const struct profile_moment *m = &p->moments[i];
		uint32_t row = rows[p->nodes[m->node].label];

		if (use[m->side] && m->run < r->n && row != NO_ROW)
			values[row * (size_t)r->n + m->run] += (double)m->weight;
	}
	if (!rows) {
		free(values);
		values = NULL;
	}
	free(rows);
	return values;
}

/*
 * Converts weights to the direction of their deviations from the side's share. Returns false if there are
 * none.
 */
static bool make_direction(const struct runs *r, double *values)
{
	double sums[PROFILE_SIDES] = { 0 }, length = 0;

	for (uint32_t run = 0; run < r->n; run++)
		sums[r->side[run]] += values[run];
	for (uint32_t run = 0; run < r->n; run++) {
		unsigned int side = r->side[run];

		if (r->weight[run] > 0)
			values[run] = (values[run] - sums[side] / r->all[side] * r->weight[run]) / sqrt(r->weight[run]);
		length += values[run] * values[run];
	}
	for (uint32_t run = 0; run < r->n && length > 0; run++)
		values[run] /= sqrt(length);
	return length > 0;
}

/* Returns the sum of squared correlations over all pairs of directions, each with itself included. */
static double sum_alike(const struct runs *r, double *values, size_t n, size_t *directions)
{
	double products[RUNS_MOST][RUNS_MOST] = { { 0 } }, sum = 0;

	*directions = 0;
	for (size_t i = 0; i < n; i++) {
		double *row = values + i * r->n;

		if (!make_direction(r, row))
			continue;
		++*directions;
		for (uint32_t a = 0; a < r->n; a++) {
			for (uint32_t b = 0; b < r->n; b++)
				products[a][b] += row[a] * row[b];
		}
	}
	for (uint32_t a = 0; a < r->n; a++) {
		for (uint32_t b = 0; b < r->n; b++)
			sum += products[a][b] * products[a][b];
	}
	return sum;
}

double effective_tests_independent(const struct profile *p, const bool *use, const uint32_t *labels, size_t n)
{
	struct runs r = { .n = p->runs };
	double df = 0, sum, alike, *values;
	size_t directions;

	if (n < 2 || p->runs > RUNS_MOST)
		return (double)(n ? n : 1);
	weigh_runs(&r, p, use);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		df += r.count[side] ? r.count[side] - 1 : 0;
	/* Between two runs all directions are the same: the number is unknown. */
	if (df < 2)
		return sqrt((double)n);
	values = weigh_labels(&r, p, use, labels, n);
	if (!values)
		return 0;
	sum = sum_alike(&r, values, n, &directions);
	free(values);
	if (directions < 2)
		return 1;
	n = directions;
	alike = (sum - (double)n) / ((double)n * (double)(n - 1));
	alike = fmin(1, fmax(0, (alike - 1 / df) / (1 - 1 / df)));
	return (double)n / (1 + (double)(n - 1) * alike);
}
