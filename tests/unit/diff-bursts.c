/*
 * Measures the verdicts on bursts by simulation: a machine runs 12 processes one after the other, each for a
 * while; all have the same caller. Both captures have 1,000 samples in ten seconds, by the same rule.
 *
 *	diff-bursts TRIALS MS [GROWTH]	MS: mean length of a burst; GROWTH: of one process's share, in points
 *
 * Prints the number of trials in which a name was called changed by cprof-diff's rule, and a box of a flame
 * graph; in which the process that grew was found, as a name and as a box; in which boxes of the same samples
 * had different verdicts; and in which bursts were reported as longer than blocks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/flame/verdict.h"

enum { PROCESSES = 12, SAMPLES = 1000, SAMPLE_MS = 10, SLICE_MS = 50, FRAMES = 3 };

static uint64_t state;

/* splitmix64 */
static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void must(bool good)
{
	if (!good) {
		fprintf(stderr, "diff-bursts: out of memory\n");
		exit(1);
	}
}

/* Adds a stack: the process, a frame that all have in common, and a frame of its own. */
static uint32_t node_of(struct profile *p, unsigned int process)
{
	char names[FRAMES][20];
	uint32_t label, node = 0;

	snprintf(names[0], sizeof(names[0]), "p%u", process);
	snprintf(names[1], sizeof(names[1]), "_start");
	snprintf(names[2], sizeof(names[2]), "work%u", process);
	for (unsigned int i = 0; i < FRAMES; i++)
		must(profile_label(p, slice_of(names[i]), &label) && profile_child(p, node, label, &node));
	return node;
}

/* Chooses the next process, each as likely as any; process 0 has growth added to its share. */
static unsigned int choose(double growth)
{
	return uniform() < growth ? 0 : (unsigned int)(uniform() * PROCESSES);
}

static void capture(struct profile *p, unsigned int side, double burst, double growth)
{
	uint32_t nodes[PROCESSES], run = p->runs++;
	unsigned int process = 0;
	double left = 0;

	for (unsigned int i = 0; i < PROCESSES; i++)
		nodes[i] = node_of(p, i);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct profile_moment m = { .side = side, .run = run, .slice = i * SAMPLE_MS / SLICE_MS, .weight = 1 };

		if (left <= 0) {
			process = choose(growth);
			left = -log(1 - uniform()) * burst;
		}
		left -= SAMPLE_MS;
		m.node = nodes[process];
		must(profile_add_at(p, m.node, 0, side, 1) && profile_mark(p, &m));
	}
}

struct outcome {
	unsigned int names, boxes, name_found, box_found, differ, told;
};

static void look_at_names(struct outcome *o, const struct profile *p, const struct changes_setup *setup)
{
	struct changes c;
	struct table t;

	must(table_init(&t, p) && changes_init(&c, &t, p, setup));
	for (size_t i = 0; i < t.n; i++) {
		bool grown = slice_equal(profile_text(p, t.rows[i].label), slice_of("work0"));

		o->name_found += grown && changes_significant(&c.by_label[t.rows[i].label]);
	}
	o->names += c.changed > 0;
	o->told += c.long_bursts;
	changes_release(&c);
	table_release(&t);
}

static void look_at_boxes(struct outcome *o, const struct profile *p, const struct changes_setup *setup)
{
	unsigned int changed = 0, differ = 0;
	struct flame_tree t;
	struct verdicts v;

	must(flame_tree_init(&t, p, false, false) && flame_tree_sum(&t) && verdicts_init(&v, &t, setup));
	for (size_t i = 1; i < t.n; i++) {
		changed += v.nodes[i] != VERDICT_NONE;
		differ += t.nodes[i].children == 1 && v.nodes[i] != v.nodes[i + 1];
	}
	/* p0 is the first process: boxes are sorted by name. */
	o->box_found += v.nodes[1] == VERDICT_MORE;
	o->boxes += changed > 0;
	o->differ += differ > 0;
	verdicts_release(&v);
	flame_tree_release(&t);
}

int main(int argc, char **argv)
{
	unsigned int trials = argc > 2 ? (unsigned int)atoi(argv[1]) : 0;
	double burst = argc > 2 ? atof(argv[2]) : 0, growth = argc > 3 ? atof(argv[3]) / 100 : 0;
	struct changes_setup setup = { .unit = { 1, 1 }, .timed = { true, true }, .runs = { 1, 1 } };
	struct outcome o = { 0 };

	for (unsigned int seed = 1; seed <= trials; seed++) {
		struct profile p;

		state = seed * 1000003;
		must(profile_init(&p));
		for (unsigned int side = 0; side < PROFILE_SIDES; side++)
			capture(&p, side, burst, side ? growth : 0);
		look_at_names(&o, &p, &setup);
		look_at_boxes(&o, &p, &setup);
		profile_release(&p);
	}
	printf("names %u boxes %u name-found %u box-found %u differ %u told %u\n", o.names, o.boxes, o.name_found,
	       o.box_found, o.differ, o.told);
	return 0;
}
