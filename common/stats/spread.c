#include "common/stats/spread.h"

#include <stdlib.h>

/* Weight of a node in one part of one side. */
struct piece {
	uint32_t side, cluster, node;
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

/* The moments of the sides that are used, in the order of time. */
static struct profile_moment *ordered(const struct profile *p, const bool *use, size_t *n)
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

/* Slices of all runs of each side, with those that nothing came in. */
static void measure(const struct profile_moment *m, size_t n, struct spread *s)
{
	uint64_t slices[PROFILE_SIDES] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n || m[i + 1].side != m[i].side || m[i + 1].run != m[i].run)
			slices[m[i].side] += (uint64_t)m[i].slice + 1;
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		uint64_t length = slices[side] / SPREAD_BLOCKS_A_SIDE;

		s->slices[side] = length > UINT32_MAX ? UINT32_MAX : length ? (uint32_t)length : 1;
	}
}

/*
 * Numbers the parts from 0 on each side; the blocks of a run that nothing came in are counted. A run
 * begins a part of its own.
 */
static void cut(struct spread *s, const struct profile_moment *m, size_t n, enum spread_by by, struct piece *pieces)
{
	uint32_t begun = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t block = by == SPREAD_BLOCKS ? m[i].slice / s->slices[m[i].side] : 0;

		if (i == 0 || m[i].side != m[i - 1].side)
			begun = 0;
		else if (m[i].run != m[i - 1].run)
			begun = last + 1;
		last = begun + block;
		pieces[i] = (struct piece){ m[i].side, last, m[i].node, m[i].weight };
		s->clusters[m[i].side] = last + 1;
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

/* Puts the pieces of one node in one part together. */
static size_t merge(struct piece *pieces, size_t n)
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

/* What one part holds, by label; touched lists the labels that have something. */
struct part {
	struct {
		double kind[SPREAD_KINDS];
		uint32_t seen; /* number of the piece that added to the cum last */
		bool touched;
	} *by_label;
	uint32_t *touched;
	size_t n;
	double weight;
};

static void add(struct part *part, unsigned int kind, uint32_t label, double weight)
{
	if (!part->by_label[label].touched) {
		part->by_label[label].touched = true;
		part->touched[part->n++] = label;
	}
	part->by_label[label].kind[kind] += weight;
}

/* As rows of a table count (table.h): a name once a stack, and not for the outermost frame, unless it stands alone. */
static void add_piece(struct part *part, const struct profile *p, const struct piece *piece, uint32_t number)
{
	double weight = (double)piece->weight;
	uint32_t at = piece->node;

	part->weight += weight;
	add(part, SPREAD_FLAT, p->nodes[at].label, weight);
	if (p->nodes[at].parent == 0)
		add(part, SPREAD_CUM, p->nodes[at].label, weight);
	for (; p->nodes[at].parent != 0; at = p->nodes[at].parent) {
		uint32_t label = p->nodes[at].label;

		if (part->by_label[label].seen == number)
			continue;
		part->by_label[label].seen = number;
		add(part, SPREAD_CUM, label, weight);
	}
}

static void end_part(struct spread *s, struct part *part, unsigned int side)
{
	for (size_t i = 0; i < part->n; i++) {
		uint32_t label = part->touched[i];

		for (unsigned int kind = 0; kind < SPREAD_KINDS; kind++) {
			double x = part->by_label[label].kind[kind];
			struct spread_sums *to = &s->sums[label][kind][side];

			to->x += x;
			to->xx += x * x;
			to->xn += x * part->weight;
			part->by_label[label].kind[kind] = 0;
		}
		part->by_label[label].touched = false;
	}
	s->n[side] += part->weight;
	s->nn[side] += part->weight * part->weight;
	part->weight = 0;
	part->n = 0;
}

static bool sum_up(struct spread *s, const struct profile *p, const struct piece *pieces, size_t n)
{
	struct part part = { .by_label = calloc(p->labels.n, sizeof(*part.by_label)),
			     .touched = malloc(p->labels.n * sizeof(*part.touched)) };
	bool good;

	s->sums = calloc(p->labels.n, sizeof(*s->sums));
	good = part.by_label && part.touched && s->sums && n < UINT32_MAX;
	for (size_t i = 0; good && i < n; i++) {
		add_piece(&part, p, &pieces[i], (uint32_t)i + 1);
		if (i + 1 == n || pieces[i + 1].side != pieces[i].side || pieces[i + 1].cluster != pieces[i].cluster)
			end_part(s, &part, pieces[i].side);
	}
	free(part.by_label);
	free(part.touched);
	return good;
}

bool spread_init(struct spread *s, const struct profile *p, enum spread_by by, const bool *use)
{
	struct profile_moment *m;
	struct piece *pieces;
	bool good;
	size_t n;

	*s = (struct spread){ 0 };
	m = ordered(p, use, &n);
	pieces = malloc((n + 1) * sizeof(*pieces));
	good = m && pieces;
	if (good && n) {
		measure(m, n, s);
		cut(s, m, n, by, pieces);
		good = sum_up(s, p, pieces, merge(pieces, n));
	}
	free(m);
	free(pieces);
	return good;
}

double spread_variance(const struct spread *s, unsigned int side, uint32_t label, unsigned int kind)
{
	double clusters = s->clusters[side], n = s->n[side], share, squares;
	const struct spread_sums *sums;

	if (clusters < 2 || !(n > 0))
		return 0;
	sums = &s->sums[label][kind][side];
	share = sums->x / n;
	squares = sums->xx - 2 * share * sums->xn + share * share * s->nn[side];
	return squares > 0 ? clusters / (clusters - 1) * squares / (n * n) : 0;
}

void spread_release(struct spread *s)
{
	free(s->sums);
	*s = (struct spread){ 0 };
}
