/*
 * Measures the verdicts on several runs a side by simulation. A run is 1,000 samples in ten seconds of a
 * program with two phases one after the other, each with six functions, which run in bursts. The time of the
 * change from the first phase to the second varies from run to run.
 *
 *	diff-runs TRIALS BEFORE AFTER MS JITTER GROWTH
 *	MS: mean length of a burst; JITTER: standard deviation of the share of the second phase between runs,
 *	in points; GROWTH: of that share from before to after, in points. With a JITTER below 0 there are no
 *	phases, and the first function grows.
 *
 * Prints the number of trials in which something was called changed; in which the growth was found; and in
 * which a function and its only callee had different verdicts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stats/changes.h"

enum { FUNCTIONS = 12, SAMPLES = 1000, SAMPLE_MS = 10, SLICE_MS = 50, FRAMES = 4 };

static uint64_t state;

/* splitmix64 */
static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static void must(bool good)
{
	if (!good) {
		fprintf(stderr, "diff-runs: out of memory\n");
		exit(1);
	}
}

/* Adds job, main, call7, work7: call7 has almost no self time. */
static uint32_t node_of(struct profile *p, unsigned int function, size_t frames)
{
	char names[FRAMES][20];
	uint32_t label, node = 0;

	snprintf(names[0], sizeof(names[0]), "job");
	snprintf(names[1], sizeof(names[1]), "main");
	snprintf(names[2], sizeof(names[2]), "call%u", function);
	snprintf(names[3], sizeof(names[3]), "work%u", function);
	for (size_t i = 0; i < frames; i++)
		must(profile_label(p, slice_of(names[i]), &label) && profile_child(p, node, label, &node));
	return node;
}

struct plan {
	double burst, jitter, growth;
	unsigned int runs[PROFILE_SIDES];
};

static unsigned int choose(const struct plan *plan, unsigned int side, bool second)
{
	if (plan->jitter < 0)
		return side && uniform() < plan->growth ? 0 : (unsigned int)(uniform() * FUNCTIONS);
	return (unsigned int)(uniform() * FUNCTIONS / 2) + (second ? FUNCTIONS / 2 : 0);
}

static void add_run(struct profile *p, unsigned int side, const struct plan *plan)
{
	double share = 0.5 + (side ? plan->growth : 0) + fmax(0, plan->jitter) * normal(), left = 0;
	uint32_t nodes[FUNCTIONS][2], run = p->runs++;
	unsigned int function = 0;
	bool was = false;

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		nodes[i][0] = node_of(p, i, FRAMES);
		nodes[i][1] = node_of(p, i, FRAMES - 1);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct profile_moment m = { .side = side, .run = run, .slice = i * SAMPLE_MS / SLICE_MS, .weight = 1 };
		bool second = i >= (1 - share) * SAMPLES;

		if (left <= 0 || (second != was && plan->jitter >= 0)) {
			function = choose(plan, side, second);
			left = -log(1 - uniform()) * plan->burst;
		}
		was = second;
		left -= SAMPLE_MS;
		m.node = nodes[function][uniform() < 0.02];
		must(profile_add_at(p, m.node, 0, side, 1) && profile_mark(p, &m));
	}
}

struct outcome {
	unsigned int some, found, differ;
};

static bool changed(const struct changes *c, const struct profile *p, const struct table *t, const char *name, double *q)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct changes_row *row = &c->by_label[t->rows[i].label];

		if (!slice_equal(profile_text(p, t->rows[i].label), slice_of(name)))
			continue;
		*q = row->cum.q;
		return row->cum.q < COMPARE_RATE;
	}
	*q = 1;
	return false;
}

static void look(struct outcome *o, const struct profile *p, const struct plan *plan)
{
	struct changes_setup setup = { .unit = { 1, 1 }, .timed = { true, true }, .runs = { plan->runs[0], plan->runs[1] } };
	bool found = false, differ = false;
	struct changes c;
	struct table t;

	must(table_init(&t, p) && changes_init(&c, &t, p, &setup));
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		char call[20], work[20];
		double outer, inner;
		bool one;

		snprintf(call, sizeof(call), "call%u", i);
		snprintf(work, sizeof(work), "work%u", i);
		one = changed(&c, p, &t, call, &outer);
		found = found || (one && (plan->jitter >= 0 || i == 0));
		/* Values near the threshold may fall on either side of it. */
		differ = differ || (one != changed(&c, p, &t, work, &inner) && fmax(outer, inner) > 4 * fmin(outer, inner));
	}
	o->some += c.changed > 0;
	o->found += found;
	o->differ += differ;
	changes_release(&c);
	table_release(&t);
}

int main(int argc, char **argv)
{
	struct outcome o = { 0 };
	struct plan plan;
	unsigned int trials;

	if (argc != 7)
		return 2;
	trials = (unsigned int)atoi(argv[1]);
	plan = (struct plan){ atof(argv[4]), atof(argv[5]) / 100, atof(argv[6]) / 100,
			      { (unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]) } };
	for (unsigned int seed = 1; seed <= trials; seed++) {
		struct profile p;

		state = seed * 1000003;
		must(profile_init(&p));
		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			for (unsigned int run = 0; run < plan.runs[side]; run++)
				add_run(&p, side, &plan);
		}
		look(&o, &p, &plan);
		profile_release(&p);
	}
	printf("changed %u found %u differ %u\n", o.some, o.found, o.differ);
	return 0;
}
