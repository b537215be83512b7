/*
 * Measures the verdicts of cprof-diff by simulation: draws from an artificial program of 531 functions are
 * compared as the command does it.
 *
 *	diff-chance same TRIALS			trials in which anything was called a change
 *	diff-chance planted TRIALS POINTS	trials in which a function that grew by POINTS was found
 *	diff-chance false TRIALS POINTS		mean % of false changes among those reported
 *	diff-chance runs TRIALS RUNS POINTS	as planted (0: as same), with RUNS runs a side that vary
 *	diff-chance write FILE SEED POINTS	a draw, as folded text
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stats/changes.h"

enum { FUNCTIONS = 531, SAMPLES = 6000, PLANTED = 100, DONOR = 200 };

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static unsigned int callers[FUNCTIONS];
static double shares[FUNCTIONS];

/* Makes a tree of calls, some ten deep, and shares that fall off as those of real programs do. */
static void make_program(void)
{
	double sum = 0;

	state = 1;
	for (unsigned int i = 1; i < FUNCTIONS; i++) {
		callers[i] = (unsigned int)(uniform() * i);
		shares[i] = 1 / pow(1 + uniform() * FUNCTIONS, 1.1);
		sum += shares[i];
	}
	for (unsigned int i = 1; i < FUNCTIONS; i++)
		shares[i] *= 0.93 / sum;
	/* PLANTED has 1 % and grows at the cost of DONOR with 6 %; otherwise only their callers change. */
	shares[PLANTED] = 0.01;
	shares[DONOR] = 0.06;
}

/* Computes the cumulative shares of one draw: one function has grown, all may vary by themselves. */
static void sum_shares(double *sums, double points, double noise)
{
	double sum = 0;

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		double share = shares[i] + (i == PLANTED ? points : i == DONOR ? -points : 0) / 100;

		sum += noise > 0 ? share * exp(noise * normal()) : share;
		sums[i] = sum;
	}
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		sums[i] /= sum;
}

static unsigned int pick(const double *sums)
{
	double at = uniform();
	unsigned int low = 0, high = FUNCTIONS - 1;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void draw(unsigned int *counts, unsigned int samples, double points, double noise)
{
	double sums[FUNCTIONS];

	memset(counts, 0, FUNCTIONS * sizeof(*counts));
	sum_shares(sums, points, noise);
	while (samples--)
		counts[pick(sums)]++;
}

static size_t stack_of(unsigned int function, unsigned int *stack)
{
	size_t n = 0;

	for (unsigned int at = function; at; at = callers[at])
		stack[n++] = at;
	stack[n++] = 0;
	return n;
}

static void must(bool good)
{
	if (!good) {
		fprintf(stderr, "diff-chance: out of memory\n");
		exit(1);
	}
}

static uint32_t label_of(struct profile *p, unsigned int function)
{
	char name[20];
	uint32_t label;

	snprintf(name, sizeof(name), "f%u", function);
	must(profile_label(p, slice_of(name), &label));
	return label;
}

/* Adds one run of one side, as the command reads it from a file. */
static void add_run(struct profile *p, unsigned int side, const unsigned int *counts)
{
	unsigned int stack[FUNCTIONS];

	p->runs++;
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		struct profile_moment m = { .side = side, .run = p->runs - 1, .weight = counts[i] };

		for (size_t n = stack_of(i, stack); counts[i] && n; n--)
			must(profile_child(p, m.node, label_of(p, stack[n - 1]), &m.node));
		if (counts[i])
			must(profile_add_at(p, m.node, 0, side, counts[i]) && profile_mark(p, &m));
	}
}

/* The result of one comparison. */
struct verdict {
	size_t changed, wrong;
	bool found;
};

static bool calls(unsigned int function, unsigned int callee)
{
	unsigned int stack[FUNCTIONS];
	size_t n = stack_of(callee, stack);

	for (size_t i = 0; i < n; i++) {
		if (stack[i] == function)
			return true;
	}
	return false;
}

/* Returns whether the function really changed: a caller of both PLANTED and DONOR keeps its total. */
static bool truly(const char *name, double points)
{
	unsigned int function = (unsigned int)atoi(name + 1);

	return points > 0 && calls(function, PLANTED) != calls(function, DONOR);
}

static struct verdict judge(const struct profile *p, uint32_t runs, double points)
{
	struct changes_setup setup = { .unit = { 1, 1 }, .runs = { runs, runs } };
	struct verdict v = { 0 };
	struct changes c;
	struct table t;

	must(table_init(&t, p) && changes_init(&c, &t, p, &setup));
	for (size_t i = 0; i < t.n; i++) {
		const char *name = (const char *)profile_text(p, t.rows[i].label).p;

		if (!changes_significant(&c.by_label[t.rows[i].label]))
			continue;
		v.changed++;
		v.wrong += !truly(name, points);
		v.found = v.found || atoi(name + 1) == PLANTED;
	}
	changes_release(&c);
	table_release(&t);
	return v;
}

static struct verdict try(uint64_t seed, uint32_t runs, double points, double noise)
{
	unsigned int counts[FUNCTIONS];
	struct verdict v;
	struct profile p;

	state = seed * 1000003;
	must(profile_init(&p));
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		for (uint32_t run = 0; run < runs; run++) {
			draw(counts, SAMPLES / runs, side ? points : 0, noise);
			add_run(&p, side, counts);
		}
	}
	v = judge(&p, runs, points);
	profile_release(&p);
	return v;
}

static void write_draw(const char *path, uint64_t seed, double points)
{
	unsigned int counts[FUNCTIONS], stack[FUNCTIONS];
	FILE *out = fopen(path, "w");

	must(out != NULL);
	state = seed * 1000003;
	draw(counts, SAMPLES, points, 0);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		for (size_t n = stack_of(i, stack); counts[i] && n; n--)
			fprintf(out, "f%u%s", stack[n - 1], n > 1 ? ";" : "");
		if (counts[i])
			fprintf(out, " %u\n", counts[i]);
	}
	must(fclose(out) == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	bool runs = strcmp(what, "runs") == 0;
	unsigned int trials = argc > 2 ? (unsigned int)atoi(argv[2]) : 0, some = 0;
	uint32_t n = runs && argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
	double points = argc > 3 + runs ? atof(argv[3 + runs]) : 0, noise = runs ? 0.3 : 0;
	double rate = 0;

	make_program();
	if (strcmp(what, "write") == 0) {
		write_draw(argv[2], strtoull(argv[3], NULL, 10), argc > 4 ? atof(argv[4]) : 0);
		return 0;
	}
	for (unsigned int seed = 1; seed <= trials; seed++) {
		struct verdict v = try(seed, n, points, noise);

		some += points > 0 ? v.found : v.changed > 0;
		rate += v.changed ? (double)v.wrong / (double)v.changed / trials : 0;
	}
	if (strcmp(what, "false") == 0)
		printf("%.1f\n", 100 * rate);
	else
		printf("%u\n", some);
	return 0;
}
