#include "common/views/trend.h"

#include <stdlib.h>

enum { NO_ROW = UINT32_MAX };

/* A trend while it is made. */
struct making {
	struct trend *t;
	const struct profile *p;
	const struct origins *o;
	uint32_t *row; /* by label */
	size_t *last;  /* by row: number of the moment that counted last, + 1 */
	bool cum;
};

static uint64_t count_slices(const struct profile_moment *m)
{
	return m->whole ? m->whole : 1;
}

static uint64_t interval_of(const struct making *k, const struct profile_moment *m)
{
	uint64_t time = origins_time(k->o, m->run, m->slice, k->t->length);

	return time ? time / k->t->length : m->slice;
}

static void measure_intervals(struct making *k)
{
	uint64_t end = 0;

	for (size_t i = 0; i < k->p->n_moments; i++) {
		uint64_t first = interval_of(k, &k->p->moments[i]);
		uint64_t last = first + count_slices(&k->p->moments[i]);

		k->t->first = i && k->t->first < first ? k->t->first : first;
		end = last > end ? last : end;
	}
	k->t->intervals = end - k->t->first;
}

/* Adds the moment to an interval of the row: each slice has its part. */
static void add_weight(const struct making *k, uint64_t *cells, const struct profile_moment *m)
{
	uint64_t at = interval_of(k, m) - k->t->first, n = count_slices(m), before = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t upto = (uint64_t)((unsigned __int128)m->weight * (i + 1) / n);

		cells[at + i] += upto - before;
		before = upto;
	}
}

static void add_row(const struct making *k, uint32_t label, size_t moment)
{
	uint32_t row = k->row[label];

	if (row == NO_ROW || k->last[row] == moment + 1)
		return;
	k->last[row] = moment + 1;
	add_weight(k, k->t->cells + row * k->t->intervals, &k->p->moments[moment]);
}

static void add_moment(const struct making *k, size_t moment)
{
	const struct profile_node *nodes = k->p->nodes;
	uint32_t at = k->p->moments[moment].node;

	if (!at) /* removed by a filter */
		return;
	add_weight(k, k->t->total, &k->p->moments[moment]);
	add_row(k, nodes[at].label, moment);
	for (at = nodes[at].parent; k->cum && at && nodes[at].parent; at = nodes[at].parent)
		add_row(k, nodes[at].label, moment);
}

static bool make_trend(struct making *k, const uint32_t *labels, size_t rows)
{
	struct trend *t = k->t;

	k->row = malloc(k->p->labels.n * sizeof(*k->row));
	k->last = calloc(rows + 1, sizeof(*k->last));
	t->total = calloc(t->intervals + 1, sizeof(*t->total));
	t->cells = calloc(rows * t->intervals + 1, sizeof(*t->cells));
	if (!k->row || !k->last || !t->total || !t->cells)
		return false;
	for (size_t i = 0; i < k->p->labels.n; i++)
		k->row[i] = NO_ROW;
	for (size_t i = 0; i < rows; i++)
		k->row[labels[i]] = (uint32_t)i;
	for (size_t i = 0; i < k->p->n_moments; i++)
		add_moment(k, i);
	return true;
}

bool trend_init(struct trend *t, const struct profile *p, const struct origins *o, uint64_t length,
		const uint32_t *labels, size_t rows, bool cum)
{
	struct making k = { .t = t, .p = p, .o = o, .cum = cum };
	bool good = true;

	*t = (struct trend){ .length = length };
	measure_intervals(&k);
	if (t->intervals <= TREND_INTERVALS)
		good = make_trend(&k, labels, rows);
	free(k.row);
	free(k.last);
	return good;
}

void trend_release(struct trend *t)
{
	free(t->total);
	free(t->cells);
	*t = (struct trend){ 0 };
}
