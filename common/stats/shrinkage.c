#include "common/stats/shrinkage.h"

#include <math.h>
#include <stdlib.h>

/* Derivatives of the logarithm of gamma: by recurrence, then by the asymptotic series (DLMF 5.11). */
static double digamma(double x)
{
	double sum = 0, r;

	for (; x < 10; x++)
		sum -= 1 / x;
	r = 1 / (x * x);
	return sum + log(x) - 1 / (2 * x) - r * (1.0 / 12 - r * (1.0 / 120 - r / 252));
}

static double trigamma(double x)
{
	double sum = 0, r;

	for (; x < 10; x++)
		sum += 1 / (x * x);
	r = 1 / (x * x);
	return sum + 1 / x + r / 2 + r / x * (1.0 / 6 - r * (1.0 / 30 - r / 42));
}

/* Inverts trigamma by bisection: the function falls from infinity to 0. */
static double trigamma_inverse(double y)
{
	double low = 1e-8, high = 1e8;

	for (int i = 0; i < 200; i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double trend_at(const struct shrinkage *m, double size)
{
	return 1 + m->slope * size;
}

/* Finds the slope at which the design effects match the trend on average; 0 if they are below 1. */
static double fit_slope(const struct shrinkage_value *list, size_t n)
{
	struct shrinkage m = { 0 };
	double low = 0, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double sum = 0;

		m.slope = (low + high) / 2;
		for (size_t j = 0; j < n; j++)
			sum += list[j].design / trend_at(&m, list[j].size) - 1;
		if (sum > 0)
			low = m.slope;
		else
			high = m.slope;
	}
	return low;
}

static void fit_prior(struct shrinkage *m, const double *values, size_t n, double alone)
{
	double mean = 0, variance = 0, df = m->own_df;
	/* A value that is 0 by chance must not have a logarithm that outweighs all others. */
	double least = 1e-5 * values[n / 2];

	for (size_t i = 0; i < n; i++)
		mean += log(fmax(values[i], least)) / (double)n;
	for (size_t i = 0; i < n; i++)
		variance += pow(log(fmax(values[i], least)) - mean, 2) / (double)(n - 1);
	mean += log(df / 2) - digamma(df / 2);
	variance -= trigamma(df / 2);
	if (variance > 1e-8) {
		m->prior_df = 2 * trigamma_inverse(variance);
		m->prior = exp(mean + digamma(m->prior_df / 2) - log(m->prior_df / 2));
	} else {
		m->prior_df = INFINITY;
		m->prior = exp(mean);
	}
	/* The prior cannot have more degrees of freedom than the other values have together. */
	m->prior_df = fmin(m->prior_df, fmax(0, alone - 1) * df);
	m->df = df + m->prior_df;
}

bool shrinkage_fit(struct shrinkage *m, const struct shrinkage_value *list, size_t n, double df, double alone)
{
	double *values = malloc((n + 1) * sizeof(*values));

	*m = (struct shrinkage){ .own_df = df, .df = df };
	if (!values)
		return false;
	m->slope = fit_slope(list, n);
	for (size_t i = 0; i < n; i++)
		values[i] = list[i].design / trend_at(m, list[i].size);
	qsort(values, n, sizeof(*values), by_value);
	if (n >= 3 && values[n / 2] > 0 && df > 0)
		fit_prior(m, values, n, alone);
	free(values);
	return true;
}

double shrinkage_one(const struct shrinkage *m, double design, double size)
{
	double trend = trend_at(m, size), value = design / trend;

	if (m->prior_df > 0)
		value = (m->prior_df * m->prior + m->own_df * value) / (m->prior_df + m->own_df);
	return trend * value;
}
