#include "common/flame/verdict.h"

#include <math.h>
#include <stdlib.h>

static uint8_t judge(const struct compare *c, double q)
{
	double before = c->k[0] * c->n[1], after = c->k[1] * c->n[0];

	if (!(q < COMPARE_RATE) || before == after)
		return VERDICT_NONE;
	return c->k[0] <= 0 ? VERDICT_NEW : c->k[1] <= 0 ? VERDICT_GONE : after < before ? VERDICT_LESS : VERDICT_MORE;
}

static uint32_t name_of(const struct flame_tree *t, size_t i)
{
	return t->p->nodes[t->nodes[i].node].label;
}

/* A node varies as much as its function does, what ran as much as most functions do. */
static struct compare counts_of(const struct flame_tree *t, const struct changes *c, const struct changes_setup *setup, size_t i)
{
	const struct compare *name = &c->by_label[name_of(t, i)].cum.counts;
	const uint64_t *weight = flame_total(t, i), *all = flame_total(t, 0);
	struct compare counts = { .design = name->design, .df = name->df };

	if (flame_label(t, i)->kind == KIND_ROOT) {
		counts.design = c->design;
		counts.df = c->df;
	}
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		double unit = setup->unit[side];

		if (!(unit > 0) || !isfinite(unit))
			continue;
		counts.k[side] = (double)weight[side] / unit;
		counts.n[side] = (double)all[side] / unit;
	}
	return counts;
}

/* Most nodes of a large tree have too few samples for any verdict, and are no tests: that is what least is for. */
static bool judge_nodes(struct verdicts *v, const struct flame_tree *t, const struct changes *c,
			const struct changes_setup *setup)
{
	double *p = malloc(t->n * sizeof(*p)), *least = malloc(t->n * sizeof(*least)), *q = malloc(t->n * sizeof(*q));
	bool good = p && least && q;
	struct compare counts;
	size_t n = 0;

	/* Until it is judged, v says whether a node is tested. */
	for (size_t i = 1; good && i < t->n; i++) {
		counts = counts_of(t, c, setup, i);
		least[n] = compare_least_p(&counts);
		v->nodes[i] = least[n] < COMPARE_RATE;
		if (v->nodes[i])
			p[n++] = compare_p(&counts);
	}
	good = good && compare_adjust(p, least, n, COMPARE_RATE, q);
	for (size_t i = 1, at = 0; good && i < t->n; i++) {
		if (!v->nodes[i])
			continue;
		counts = counts_of(t, c, setup, i);
		v->nodes[i] = judge(&counts, q[at++]);
	}
	free(p);
	free(least);
	free(q);
	return good;
}

/* A name is judged as cprof-diff's table does it; what ran has one node, which has been judged. */
static void judge_names(struct verdicts *v, const struct flame_tree *t, const struct changes *c)
{
	for (size_t i = 1; i < t->n; i++) {
		const struct changes_row *row = &c->by_label[name_of(t, i)];
		uint32_t label = t->nodes[i].label;

		if (t->labels[label].kind == KIND_ROOT) {
			v->totals[label] = v->nodes[i];
			v->selfs[label] = t->nodes[i].children ? VERDICT_NONE : v->nodes[i];
			continue;
		}
		v->selfs[label] = judge(&row->flat.counts, row->flat.q);
		v->totals[label] = judge(&row->cum.counts, row->cum.q);
	}
}

static double change_of(const uint64_t *weight, const uint64_t *all)
{
	return all[0] && all[1] ? fabs((double)weight[1] / (double)all[1] - (double)weight[0] / (double)all[0]) : 0;
}

/* Names that differ by chance count as well: a picture in which all is chance is to be pale. */
static double greatest_change(const struct flame_tree *t, const struct table *table)
{
	const uint64_t *all = flame_total(t, 0);
	double greatest = 0;

	for (size_t i = 0; i < table->n; i++)
		greatest = fmax(greatest, change_of(table->rows[i].cum, all));
	for (size_t i = 1; i < t->n; i += t->nodes[i].size)
		greatest = fmax(greatest, change_of(flame_total(t, i), all));
	return greatest;
}

bool verdicts_init(struct verdicts *v, const struct flame_tree *t, const struct changes_setup *setup)
{
	size_t n = t->n_labels + 1;
	struct changes c = { 0 };
	struct table table;
	bool good;

	*v = (struct verdicts){ .nodes = calloc(t->n, 1), .selfs = calloc(n, 1), .totals = calloc(n, 1) };
	good = table_init(&table, t->p) && changes_init(&c, &table, t->p, setup) && v->nodes && v->selfs && v->totals &&
	       judge_nodes(v, t, &c, setup);
	if (good) {
		judge_names(v, t, &c);
		v->greatest = greatest_change(t, &table);
	}
	changes_release(&c);
	table_release(&table);
	return good;
}

void verdicts_release(struct verdicts *v)
{
	free(v->nodes);
	free(v->selfs);
	free(v->totals);
	*v = (struct verdicts){ 0 };
}
