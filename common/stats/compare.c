#include "common/stats/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BISECTIONS = 60 };

/* Evaluates the continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300, exact = 1e-15;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 1000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < exact)
			break;
	}
	return h;
}

/*
 * The regularized incomplete beta function. The fraction converges fast on one side of the mean; the other is
 * its mirror image.
 */
static double beta_below(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double compare_tail(double z, double df)
{
	if (df > 0 && df < 1e6)
		return beta_below(df / 2, 0.5, df / (df + z * z));
	return erfc(fabs(z) / M_SQRT2);
}

double compare_critical(double alpha, double df)
{
	double low = 0, high = 1;

	if (!(alpha > 0))
		return INFINITY;
	while (compare_tail(high, df) > alpha && high < 1e100)
		high *= 2;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (compare_tail(middle, df) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double compare_z(double k1, double n1, double k2, double n2)
{
	double share = (k1 + k2) / (n1 + n2), variance = share * (1 - share) * (1 / n1 + 1 / n2);

	return variance > 0 ? (k2 / n2 - k1 / n1) / sqrt(variance) : 0;
}

/* Returns how much more likely k + 1 samples on the first side are than k (hypergeometric distribution). */
static double odds_up(double k, double both, double n1, double n2)
{
	return (both - k) / (k + 1) * (n1 - k) / (n2 - both + k + 1);
}

/* Sums the terms on one side of the most likely one, relative to it; *tail also gets those up to limit. */
static double sum_side(double mode, bool up, double both, double n1, double n2, double limit, double *tail)
{
	double term = 1, sum = 0, k = mode;

	for (;;) {
		term = up ? term * odds_up(k, both, n1, n2) : term / odds_up(k - 1, both, n1, n2);
		k += up ? 1 : -1;
		if (!(term > 0) || k < 0 || isinf(term))
			return sum;
		sum += term;
		if (term <= limit)
			*tail += term;
		if (term <= limit && term < 1e-17 * *tail)
			return sum;
	}
}

/*
 * All terms are relative to the most likely table, so no factorials are needed. Terms fall so fast that the
 * sum ends after about ten standard deviations, however many samples there are.
 */
double compare_exact(double k1, double n1, double k2, double n2)
{
	double both = k1 + k2, mode, seen = 1, tail = 0, sum, limit;

	if (!(n1 > 0) || !(n2 > 0))
		return 1;
	mode = floor((both + 1) * (n1 + 1) / (n1 + n2 + 2));
	mode = fmin(fmax(mode, fmax(0, both - n2)), fmin(both, n1));
	for (double k = mode; k < k1 && seen > 0; k++)
		seen *= odds_up(k, both, n1, n2);
	for (double k = mode; k > k1 && seen > 0; k--)
		seen /= odds_up(k - 1, both, n1, n2);
	limit = seen * (1 + 1e-7); /* tables as likely as this one, apart from rounding */
	sum = 1;
	if (limit >= 1)
		tail = 1;
	sum += sum_side(mode, true, both, n1, n2, limit, &tail);
	sum += sum_side(mode, false, both, n1, n2, limit, &tail);
	return fmin(1, tail / sum);
}

struct effective {
	double k[2], n[2];
};

/* Converts the counts to independent samples. */
static struct effective effective_of(const struct compare *c)
{
	double design = c->design > 1 ? c->design : 1;
	struct effective e;

	for (int side = 0; side < 2; side++) {
		e.k[side] = c->k[side] / design;
		e.n[side] = c->n[side] / design;
	}
	return e;
}

/* Returns the smallest expected cell of the table if nothing changed. */
static double least_expected(const struct effective *e)
{
	double both = e->k[0] + e->k[1], n = e->n[0] + e->n[1];

	return fmin(both, n - both) * fmin(e->n[0], e->n[1]) / n;
}

double compare_p(const struct compare *c)
{
	struct effective e = effective_of(c);
	double p = 0;

	if (!(e.n[0] > 0) || !(e.n[1] > 0))
		return 1;
	/* Fractions of a sample, left by the design effect, are no evidence. */
	if (least_expected(&e) < COMPARE_SMALL) {
		double k1 = floor(e.k[0]), k2 = floor(e.k[1]);

		p = compare_exact(k1, fmax(k1, floor(e.n[0])), k2, fmax(k2, floor(e.n[1])));
		if (!(c->df > 0))
			return p;
	}
	return fmax(p, compare_tail(compare_z(e.k[0], e.n[0], e.k[1], e.n[1]), c->df));
}

struct interval compare_interval(const struct compare *c, double z)
{
	struct effective e = effective_of(c);
	struct interval a = interval_wilson(e.k[0], e.n[0], z), b = interval_wilson(e.k[1], e.n[1], z);
	double before = e.n[0] > 0 ? e.k[0] / e.n[0] : 0, after = e.n[1] > 0 ? e.k[1] / e.n[1] : 0;

	if (!(e.n[0] > 0) || !(e.n[1] > 0))
		return (struct interval){ -1, 1 };
	return (struct interval){ fmax(-1, after - before - hypot(after - b.low, a.high - before)),
				  fmin(1, after - before + hypot(b.high - after, before - a.low)) };
}

double compare_least_p(const struct compare *c)
{
	struct effective e = effective_of(c);
	double both = e.k[0] + e.k[1], n = e.n[0] + e.n[1];

	if (!(e.n[0] > 0) || !(e.n[1] > 0))
		return 1;
	both = fmin(both, n - both);
	return pow(fmin(e.n[0], e.n[1]) / n, both);
}

/*
 * Returns by how much a share with this growth is expected to miss the critical value at the given power; at
 * most 0: it is found.
 */
static double miss_by(const struct effective *e, double share, double growth, double critical, double power)
{
	double after = share + growth, pooled = (share * e->n[0] + after * e->n[1]) / (e->n[0] + e->n[1]);
	double same = sqrt(pooled * (1 - pooled) * (1 / e->n[0] + 1 / e->n[1]));
	double other = sqrt(share * (1 - share) / e->n[0] + after * (1 - after) / e->n[1]);

	return critical * same + power * other - growth;
}

double compare_detectable(const struct compare *c, double critical, double power)
{
	struct effective e = effective_of(c);
	double share, low = 0, high;

	if (!(e.n[0] > 0) || !(e.n[1] > 0))
		return INFINITY;
	share = (e.k[0] + e.k[1]) / (e.n[0] + e.n[1]);
	high = 1 - share;
	if (miss_by(&e, share, high, critical, power) > 0)
		return INFINITY;
	for (int i = 0; i < BISECTIONS / 2; i++) {
		double middle = (low + high) / 2;

		if (miss_by(&e, share, middle, critical, power) > 0)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Finds the smallest count for which no more than count tests could pass at rate / count. */
static bool count_able(const double *least, size_t n, double rate, size_t *counted)
{
	double *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t able = n, count = 1;

	*counted = n;
	if (!sorted || !least) {
		free(sorted);
		return sorted || !least;
	}
	memcpy(sorted, least, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (; count < n; count++) {
		while (able && sorted[able - 1] > rate / (double)count)
			able--;
		if (able <= count)
			break;
	}
	*counted = count;
	free(sorted);
	return true;
}

static int by_p(const void *a, const void *b, void *context)
{
	const double *p = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return p[x] < p[y] ? -1 : p[x] > p[y] ? 1 : x < y ? -1 : x > y;
}

bool compare_adjust(const double *p, const double *least, size_t n, double rate, double *q)
{
	size_t *order = malloc((n + 1) * sizeof(*order)), counted, m = 0;
	double smallest = 1;

	if (!order || !count_able(least, n, rate, &counted)) {
		free(order);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		q[i] = 1;
		if (!least || least[i] <= rate / (double)counted)
			order[m++] = i;
	}
	qsort_r(order, m, sizeof(*order), by_p, (void *)p);
	for (size_t i = m; i > 0; i--) {
		smallest = fmin(smallest, p[order[i - 1]] * (double)m / (double)i);
		q[order[i - 1]] = smallest;
	}
	free(order);
	return true;
}
