#include "common/stats/variance.h"

#include <math.h>
#include <stdlib.h>

/* Weight of a node in one part of one side. */
struct piece {
	uint32_t side, cluster, begun, node; /* begun: first part of this run */
	uint64_t weight;
};

static int by_time(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* Returns the moments of the used sides in order of time. The caller frees them; NULL: out of memory. */
static struct profile_moment *copy_moments(const struct profile *p, const bool *use, size_t *n)
{
	struct profile_moment *m = malloc((p->n_moments + 1) * sizeof(*m));

	*n = 0;
	for (size_t i = 0; m && i < p->n_moments; i++) {
		if (use[p->moments[i].side])
			m[(*n)++] = p->moments[i];
	}
	if (m)
		qsort(m, *n, sizeof(*m), by_time);
	return m;
}

/* Sets the length of a block from the slices of all runs of each side, including empty ones. */
static void set_block_length(const struct profile_moment *m, size_t n, struct variance *s)
{
	uint64_t slices[PROFILE_SIDES] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n || m[i + 1].side != m[i].side || m[i + 1].run != m[i].run)
			slices[m[i].side] += (uint64_t)m[i].slice + 1;
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		uint64_t length = slices[side] / VARIANCE_BLOCKS_A_SIDE;

		s->slices[side] = length > UINT32_MAX ? UINT32_MAX : length ? (uint32_t)length : 1;
	}
}

/* A part of either side. The parts of the first side come first. */
struct span {
	double weight;
	uint32_t run; /* number of the run, counted here */
};

/* Numbers the parts from 0 on each side, including the empty blocks of a run. A run begins a new part. */
static void cut_parts(struct variance *s, const struct profile_moment *m, size_t n, enum variance_by by,
		      struct piece *pieces)
{
	uint32_t begun = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t block = by == VARIANCE_BLOCKS ? m[i].slice / s->slices[m[i].side] : 0;

		if (i == 0 || m[i].side != m[i - 1].side)
			begun = 0;
		else if (m[i].run != m[i - 1].run)
			begun = last + 1;
		last = begun + block;
		pieces[i] = (struct piece){ m[i].side, last, begun, m[i].node, m[i].weight };
		s->clusters[m[i].side] = last + 1;
	}
}

static uint32_t span_of(const struct variance *s, const struct piece *piece)
{
	return piece->cluster + (piece->side ? s->clusters[0] : 0);
}

/* Returns the parts with their weights. The caller frees them; NULL: out of memory. */
static struct span *list_spans(const struct variance *s, const struct piece *pieces, size_t n)
{
	size_t all = (size_t)s->clusters[0] + s->clusters[1];
	struct span *spans = calloc(all + 1, sizeof(*spans));
	uint32_t run = 0;

	for (size_t i = 0, at = 0; spans && i < n; i++) {
		uint32_t here = span_of(s, &pieces[i]);

		run += i && (pieces[i].side != pieces[i - 1].side || pieces[i].begun != pieces[i - 1].begun);
		for (; at <= here; at++)
			spans[at].run = run;
		spans[here].weight += (double)pieces[i].weight;
	}
	return spans;
}

/* Returns the weight of the two parts that are lag away in the same run. */
static double neighbour_weight(const struct variance *s, const struct span *spans, uint32_t at, uint32_t lag)
{
	size_t all = (size_t)s->clusters[0] + s->clusters[1];
	double weight = 0;

	if (at >= lag && spans[at - lag].run == spans[at].run)
		weight += spans[at - lag].weight;
	if (at + lag < all && spans[at + lag].run == spans[at].run)
		weight += spans[at + lag].weight;
	return weight;
}

static void sum_spans(struct variance *s, const struct span *spans)
{
	for (uint32_t at = 0; at < s->clusters[0] + s->clusters[1]; at++) {
		unsigned int side = at >= s->clusters[0];

		s->n[side] += spans[at].weight;
		s->nn[side][0] += spans[at].weight * spans[at].weight;
		for (uint32_t lag = 1; lag <= s->lags; lag++)
			s->nn[side][lag] += spans[at].weight * neighbour_weight(s, spans, at, lag) / 2;
	}
}

static int by_cluster(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->cluster != y->cluster)
		return x->cluster < y->cluster ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Merges the pieces of one node in one part. Returns their new number. */
static size_t merge_pieces(struct piece *pieces, size_t n)
{
	size_t kept = 0;

	qsort(pieces, n, sizeof(*pieces), by_cluster);
	for (size_t i = 0; i < n; i++) {
		if (kept && by_cluster(&pieces[kept - 1], &pieces[i]) == 0)
			pieces[kept - 1].weight += pieces[i].weight;
		else
			pieces[kept++] = pieces[i];
	}
	return kept;
}

/* The weight of a unit in the current part and in the previous ones. */
struct unit {
	double x, was[VARIANCE_LAGS];
	uint32_t at[VARIANCE_LAGS]; /* number of the part of was[], plus 1 */
	uint32_t seen;            /* number of the piece that added last: a name counts once in a stack */
	bool touched;
};

struct part {
	const struct profile *p;
	const uint32_t *numbers; /* NULL: names */
	struct unit *units;
	uint32_t *touched; /* units with weight in this part */
	size_t n;
};

static void add_unit_weight(struct part *part, uint32_t unit, double weight)
{
	if (!part->units[unit].touched) {
		part->units[unit].touched = true;
		part->touched[part->n++] = unit;
	}
	part->units[unit].x += weight;
}

/* Counts as table_view.h does: a name once per stack, and the outermost frame only if it is the only one. */
static void add_names(struct part *part, const struct piece *piece, uint32_t number)
{
	const struct profile_node *nodes = part->p->nodes;
	double weight = (double)piece->weight;
	uint32_t at = piece->node;

	add_unit_weight(part, variance_name(nodes[at].label, VARIANCE_FLAT), weight);
	if (nodes[at].parent == 0)
		add_unit_weight(part, variance_name(nodes[at].label, VARIANCE_CUM), weight);
	for (; nodes[at].parent != 0; at = nodes[at].parent) {
		uint32_t unit = variance_name(nodes[at].label, VARIANCE_CUM);

		if (part->units[unit].seen == number)
			continue;
		part->units[unit].seen = number;
		add_unit_weight(part, unit, weight);
	}
}

static void add_nodes(struct part *part, const struct piece *piece)
{
	for (uint32_t at = piece->node; at; at = part->p->nodes[at].parent) {
		if (part->numbers[at] != VARIANCE_NONE)
			add_unit_weight(part, part->numbers[at], (double)piece->weight);
	}
}

static void end_unit(struct variance *s, const struct span *spans, uint32_t at, struct unit *unit, struct variance_sums *to)
{
	to->x += unit->x;
	to->lag[0].xx += unit->x * unit->x;
	to->lag[0].xn += unit->x * spans[at].weight;
	for (uint32_t lag = 1; lag <= s->lags; lag++) {
		uint32_t slot = (at - lag) % VARIANCE_LAGS;

		to->lag[lag].xn += unit->x * neighbour_weight(s, spans, at, lag) / 2;
		if (at >= lag && unit->at[slot] == at - lag + 1 && spans[at - lag].run == spans[at].run)
			to->lag[lag].xx += unit->x * unit->was[slot];
	}
	unit->was[at % VARIANCE_LAGS] = unit->x;
	unit->at[at % VARIANCE_LAGS] = at + 1;
	unit->x = 0;
	unit->touched = false;
}

static void end_part(struct variance *s, const struct span *spans, struct part *part, const struct piece *last)
{
	for (size_t i = 0; i < part->n; i++) {
		uint32_t unit = part->touched[i];

		end_unit(s, spans, span_of(s, last), &part->units[unit], &s->sums[unit][last->side]);
	}
	part->n = 0;
}

static bool sum_up(struct variance *s, struct part *part, size_t units, const struct piece *pieces, size_t n)
{
	struct span *spans = list_spans(s, pieces, n);
	bool good;

	part->units = calloc(units + 1, sizeof(*part->units));
	part->touched = malloc((units + 1) * sizeof(*part->touched));
	s->sums = calloc(units + 1, sizeof(*s->sums));
	good = spans && part->units && part->touched && s->sums && n < UINT32_MAX;
	if (good)
		sum_spans(s, spans);
	for (size_t i = 0; good && i < n; i++) {
		if (part->numbers)
			add_nodes(part, &pieces[i]);
		else
			add_names(part, &pieces[i], (uint32_t)i + 1);
		if (i + 1 == n || pieces[i + 1].side != pieces[i].side || pieces[i + 1].cluster != pieces[i].cluster)
			end_part(s, spans, part, &pieces[i]);
	}
	free(spans);
	free(part->units);
	free(part->touched);
	return good;
}

static bool spread_units(struct variance *s, struct part *part, size_t units, enum variance_by by, const bool *use)
{
	struct profile_moment *m;
	struct piece *pieces;
	bool good;
	size_t n;

	*s = (struct variance){ .lags = by == VARIANCE_BLOCKS ? VARIANCE_LAGS : 0 };
	m = copy_moments(part->p, use, &n);
	pieces = malloc((n + 1) * sizeof(*pieces));
	good = m && pieces;
	if (good && n) {
		set_block_length(m, n, s);
		cut_parts(s, m, n, by, pieces);
		good = sum_up(s, part, units, pieces, merge_pieces(pieces, n));
	}
	free(m);
	free(pieces);
	return good;
}

bool variance_names(struct variance *s, const struct profile *p, enum variance_by by, const bool *use)
{
	struct part part = { .p = p };

	return spread_units(s, &part, (size_t)p->labels.n * VARIANCE_KINDS, by, use);
}

bool variance_nodes(struct variance *s, const struct profile *p, enum variance_by by, const bool *use, const uint32_t *numbers,
		  size_t n)
{
	struct part part = { .p = p, .numbers = numbers };

	return spread_units(s, &part, n, by, use);
}

double variance_covariance(const struct variance *s, unsigned int side, uint32_t unit, unsigned int lag)
{
	const struct variance_sums *sums = &s->sums[unit][side];
	double n = s->n[side], share = n > 0 ? sums->x / n : 0;

	if (!(n > 0))
		return 0;
	return (sums->lag[lag].xx - 2 * share * sums->lag[lag].xn + share * share * s->nn[side][lag]) / (n * n);
}

double variance_variance(const struct variance *s, unsigned int side, uint32_t unit)
{
	double clusters = s->clusters[side], sum, most;

	if (clusters < 2)
		return 0;
	sum = variance_covariance(s, side, unit, 0);
	most = fmax(0, sum * clusters / (clusters - 1));
	for (unsigned int lag = 1; lag <= s->lags && clusters > 2 * lag + 1; lag++) {
		sum += 2 * variance_covariance(s, side, unit, lag);
		most = fmax(most, sum * clusters / (clusters - 1 - 2 * lag));
	}
	return most;
}

/*
 * The sum over all lags would have one of 1 + 2 * lags of the degrees. It is more stable, because it is never
 * less than the sum over fewer lags. Trials with and without bursts (tests/cmd/diff-bursts.t) confirm this
 * number.
 */
double variance_degrees(const struct variance *s)
{
	double df = 0;

	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		df += s->clusters[side] > 1 ? (s->clusters[side] - 1.0) / (1 + s->lags) : 0;
	return df;
}

void variance_release(struct variance *s)
{
	free(s->sums);
	*s = (struct variance){ 0 };
}
