#include "common/flame/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "common/stats/compare.h"

typedef uint64_t weights[PROFILE_SIDES];

/* Of labels: what ends in it, and what holds it. */
struct sums {
	weights *self, *total;
	uint32_t *open; /* how often the name stands on the way to the node that is looked at */
	uint32_t *path; /* nodes on that way */
	size_t cap_path;
};

static void add(uint64_t *to, const uint64_t *weight)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		to[side] += weight[side];
}

static bool add_up(const struct flame_tree *t, struct sums *s)
{
	size_t depth = 0;

	for (size_t i = 1; i < t->n; i++) {
		while (depth && i >= s->path[depth - 1] + (size_t)t->nodes[s->path[depth - 1]].size)
			s->open[t->nodes[s->path[--depth]].label]--;
		if (!grow_array(&s->path, &s->cap_path, depth, sizeof(*s->path)))
			return false;
		s->path[depth++] = (uint32_t)i;
		add(s->self[t->nodes[i].label], flame_self(t, i));
		if (s->open[t->nodes[i].label]++ == 0)
			add(s->total[t->nodes[i].label], flame_total(t, i));
	}
	return true;
}

/* A family of tests: the weights of each, and how to get from weight to samples. */
struct family {
	double *p, *least, *q;
	size_t n;
	double scale[PROFILE_SIDES], samples[PROFILE_SIDES];
};

static bool family_init(struct family *f, const struct flame_tree *t, const double *samples, size_t n)
{
	const uint64_t *all = flame_total(t, 0);

	*f = (struct family){ .n = n };
	f->p = calloc(n + 1, sizeof(*f->p));
	f->least = calloc(n + 1, sizeof(*f->least));
	f->q = calloc(n + 1, sizeof(*f->q));
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		f->samples[side] = samples[side];
		f->scale[side] = all[side] ? samples[side] / (double)all[side] : 0;
	}
	return f->p && f->least && f->q;
}

static void family_release(struct family *f)
{
	free(f->p);
	free(f->least);
	free(f->q);
}

static void test(struct family *f, size_t i, const uint64_t *weight)
{
	struct compare c = { .n = { f->samples[0], f->samples[1] } };

	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		c.k[side] = (double)weight[side] * f->scale[side];
	/* Most nodes of a large tree have too few samples for any verdict. */
	f->least[i] = compare_least_p(&c);
	f->p[i] = f->least[i] < COMPARE_RATE ? compare_p(&c) : 1;
}

static uint8_t judge(const struct family *f, size_t i, const uint64_t *weight)
{
	double before = (double)weight[0] * f->scale[0] * f->samples[1], after = (double)weight[1] * f->scale[1] * f->samples[0];

	if (f->q[i] >= COMPARE_RATE || before == after)
		return VERDICT_NONE;
	return !weight[0] ? VERDICT_NEW : !weight[1] ? VERDICT_GONE : after < before ? VERDICT_LESS : VERDICT_MORE;
}

static bool judge_nodes(struct verdicts *v, const struct flame_tree *t, const double *samples)
{
	struct family f;
	bool good = family_init(&f, t, samples, t->n);

	for (size_t i = 1; good && i < t->n; i++)
		test(&f, i - 1, flame_total(t, i));
	good = good && compare_adjust(f.p, f.least, t->n - 1, COMPARE_RATE, f.q);
	for (size_t i = 1; good && i < t->n; i++)
		v->nodes[i] = judge(&f, i - 1, flame_total(t, i));
	family_release(&f);
	return good;
}

/* Names that differ by chance count as well: a picture in which all is chance is to be pale. */
static double greatest_change(const struct flame_tree *t, const struct sums *s)
{
	const uint64_t *all = flame_total(t, 0);
	double greatest = 0;

	for (size_t i = 0; all[0] && all[1] && i < t->n_labels; i++) {
		double change = fabs((double)s->total[i][1] / (double)all[1] - (double)s->total[i][0] / (double)all[0]);

		greatest = change > greatest ? change : greatest;
	}
	return greatest;
}

static bool judge_names(struct verdicts *v, const struct flame_tree *t, const struct sums *s, const double *samples)
{
	size_t n = t->n_labels;
	struct family f;
	bool good = family_init(&f, t, samples, 2 * n);

	for (size_t i = 0; good && i < n; i++) {
		test(&f, i, s->self[i]);
		test(&f, n + i, s->total[i]);
	}
	good = good && compare_adjust(f.p, f.least, 2 * n, COMPARE_RATE, f.q);
	for (size_t i = 0; good && i < n; i++) {
		v->selfs[i] = judge(&f, i, s->self[i]);
		v->totals[i] = judge(&f, n + i, s->total[i]);
	}
	family_release(&f);
	return good;
}

bool verdicts_init(struct verdicts *v, const struct flame_tree *t, const double samples[PROFILE_SIDES])
{
	size_t n = t->n_labels + 1;
	struct sums s = {
		.self = calloc(n, sizeof(*s.self)),
		.total = calloc(n, sizeof(*s.total)),
		.open = calloc(n, sizeof(*s.open)),
	};
	bool good;

	*v = (struct verdicts){ .nodes = calloc(t->n, 1), .selfs = calloc(n, 1), .totals = calloc(n, 1) };
	good = s.self && s.total && s.open && v->nodes && v->selfs && v->totals && add_up(t, &s) &&
	       judge_nodes(v, t, samples) && judge_names(v, t, &s, samples);
	v->greatest = good ? greatest_change(t, &s) : 0;
	free(s.self);
	free(s.total);
	free(s.open);
	free(s.path);
	return good;
}

void verdicts_release(struct verdicts *v)
{
	free(v->nodes);
	free(v->selfs);
	free(v->totals);
	*v = (struct verdicts){ 0 };
}
