#include "common/flame/verdict.h"

#include <math.h>
#include <stdlib.h>

static uint8_t verdict_of(const struct compare *c, double q)
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

/* The judged nodes: numbers: by node of the profile; places: indices in the tree; counts: their samples. */
struct judged {
	uint32_t *numbers, *places;
	struct compare *counts;
	double *p, *least, *q;
	size_t n;
};

/* Returns whether the node can get a verdict. Most nodes of a large tree have too few samples for a test. */
static bool is_testable(const struct flame_tree *t, const struct changes_setup *setup, size_t i,
			struct compare *counts)
{
	*counts = changes_counts(flame_total(t, i), t->p, setup);
	return compare_least_p(counts) < COMPARE_RATE;
}

static bool list_judged(struct judged *j, const struct flame_tree *t, const struct changes_setup *setup)
{
	struct compare counts;
	size_t n = 0;

	for (size_t i = 1; i < t->n; i++)
		n += is_testable(t, setup, i, &counts);
	j->numbers = malloc(t->p->n * sizeof(*j->numbers));
	j->places = malloc((n + 1) * sizeof(*j->places));
	j->counts = malloc((n + 1) * sizeof(*j->counts));
	j->p = malloc((n + 1) * sizeof(*j->p));
	j->least = malloc((n + 1) * sizeof(*j->least));
	j->q = malloc((n + 1) * sizeof(*j->q));
	if (!j->numbers || !j->places || !j->counts || !j->p || !j->least || !j->q)
		return false;
	for (size_t i = 0; i < t->p->n; i++)
		j->numbers[i] = VARIANCE_NONE;
	for (size_t i = 1; i < t->n; i++) {
		if (!is_testable(t, setup, i, &counts))
			continue;
		j->numbers[t->nodes[i].node] = (uint32_t)j->n;
		j->places[j->n] = (uint32_t)i;
		j->counts[j->n++] = counts;
	}
	return true;
}

/*
 * Judges each node by the burstiness of its own samples: boxes with the same samples get the same verdict,
 * whatever their names.
 */
static bool judge_nodes(struct verdicts *v, const struct flame_tree *t, const struct changes *c,
			const struct changes_setup *setup)
{
	struct judged j = { 0 };
	bool good = list_judged(&j, t, setup) && changes_nodes(c, t->p, setup, j.numbers, j.counts, j.n);

	for (size_t i = 0; good && i < j.n; i++) {
		j.least[i] = compare_least_p(&j.counts[i]);
		j.p[i] = compare_p(&j.counts[i]);
	}
	good = good && compare_adjust(j.p, j.least, j.n, COMPARE_RATE, j.q);
	for (size_t i = 0; good && i < j.n; i++)
		v->nodes[j.places[i]] = verdict_of(&j.counts[i], j.q[i]);
	free(j.numbers);
	free(j.places);
	free(j.counts);
	free(j.p);
	free(j.least);
	free(j.q);
	return good;
}

/* Judges names as cprof-diff's table does. */
static void judge_names(struct verdicts *v, const struct flame_tree *t, const struct changes *c)
{
	for (size_t i = 1; i < t->n; i++) {
		const struct changes_row *row = &c->by_label[name_of(t, i)];
		uint32_t label = t->nodes[i].label;

		if (t->labels[label].kind == KIND_ROOT)
			continue;
		v->selfs[label] = verdict_of(&row->flat.counts, row->flat.q);
		v->totals[label] = verdict_of(&row->cum.counts, row->cum.q);
	}
}

static bool same_weight(const uint64_t *a, const uint64_t *b)
{
	return a[0] == b[0] && a[1] == b[1];
}

/* Returns whether the node has one child with the same samples. That child is the next node. */
static bool passes_all(const struct flame_tree *t, size_t i)
{
	return i > 0 && t->nodes[i].children == 1 && same_weight(flame_total(t, i), flame_total(t, i + 1));
}

/*
 * Nodes and names are two families of tests, so the same samples could have a verdict in one and none in the
 * other. A node that has all samples of a name gets the name's verdict, and so do the nodes with the same
 * samples above and below.
 */
static bool adopt_name_verdicts(struct verdicts *v, const struct flame_tree *t, const struct table *table)
{
	const uint64_t **cum = calloc(t->p->labels.n + 1, sizeof(*cum));
	uint8_t *settled = calloc(t->n, 1);
	bool good = cum && settled;

	for (size_t i = 0; good && i < table->n; i++)
		cum[table->rows[i].label] = table->rows[i].cum;
	for (size_t i = 1; good && i < t->n; i++) {
		uint32_t name = name_of(t, i);

		if (flame_label(t, i)->kind != KIND_ROOT && cum[name] && same_weight(cum[name], flame_total(t, i))) {
			v->nodes[i] = v->totals[t->nodes[i].label];
			settled[i] = 1;
		} else if (passes_all(t, i - 1) && settled[i - 1]) {
			v->nodes[i] = v->nodes[i - 1];
			settled[i] = 1;
		}
	}
	for (size_t i = t->n; good && i-- > 1;) {
		if (passes_all(t, i) && settled[i + 1] && !settled[i]) {
			v->nodes[i] = v->nodes[i + 1];
			settled[i] = 1;
		}
	}
	free(cum);
	free(settled);
	return good;
}

/* A process has only one node, so its label gets the node's verdict. */
static void judge_roots(struct verdicts *v, const struct flame_tree *t)
{
	for (size_t i = 1; i < t->n; i++) {
		uint32_t label = t->nodes[i].label;

		if (t->labels[label].kind == KIND_ROOT) {
			v->totals[label] = v->nodes[i];
			v->selfs[label] = t->nodes[i].children ? VERDICT_NONE : v->nodes[i];
		}
	}
}

static double change_of(const uint64_t *weight, const uint64_t *all)
{
	return all[0] && all[1] ? fabs((double)weight[1] / (double)all[1] - (double)weight[0] / (double)all[0]) : 0;
}

/* Includes insignificant changes: a picture in which all changes are noise should be pale. */
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

static bool has_verdict(const struct verdicts *v, const struct flame_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (v->nodes[i] != VERDICT_NONE)
			return true;
	}
	return false;
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
		good = adopt_name_verdicts(v, t, &table);
		judge_roots(v, t);
		v->greatest = greatest_change(t, &table);
		v->names = table.n;
		v->grey = !c.changed && !has_verdict(v, t);
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
