/*
 * Checks transformed profiles: trees, weights and moments of random profiles are consistent afterwards.
 */
#include "common/profile/transform.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/check.h"

static uint32_t chance(uint32_t n)
{
	return (uint32_t)(random_u64() % n);
}

static void must(bool good)
{
	if (!good)
		abort();
}

static void fill(struct profile *p)
{
	for (unsigned int i = 0; i < 500; i++) {
		uint32_t labels[12], n = 1 + chance(12), node = 0;
		struct profile_moment m = { .side = chance(2), .run = chance(2), .slice = chance(5), .weight = 1 + chance(9) };

		for (uint32_t k = 0; k < n; k++) {
			char name[32];

			snprintf(name, sizeof(name), "f%u%s%u", chance(4), chance(3) ? ".isra." : "x", chance(2));
			must(profile_label(p, slice_of(name), &labels[k]));
			must(profile_child(p, node, labels[k], &node));
		}
		m.node = node;
		must(profile_claim(p, m.side, m.weight) && profile_add(p, labels, n, m.side, m.weight) && profile_mark(p, &m));
	}
	p->runs = 2;
}

/* Checks that each node has weight at or below it, moments add up to self weights, and all to the totals. */
static void check_profile(const struct profile *p)
{
	profile_weight *below = profile_below(p), *moments = calloc(p->n, sizeof(*moments));

	must(below && moments);
	for (size_t i = 0; i < p->n_moments; i++)
		moments[p->moments[i].node][p->moments[i].side] += p->moments[i].weight;
	for (size_t i = 1; i < p->n; i++) {
		must(p->nodes[i].parent < i);
		must(below[i][0] || below[i][1]);
		must(memcmp(moments[i], p->nodes[i].self, sizeof(moments[i])) == 0);
	}
	must(memcmp(below[0], p->total, sizeof(p->total)) == 0);
	must(memcmp(p->claimed, p->total, sizeof(p->total)) == 0);
	must(p->runs == 2);
	free(below);
	free(moments);
}

int main(void)
{
	regex_t focus, exclude;

	must(regcomp(&focus, "^f1", REG_EXTENDED | REG_NOSUB) == 0);
	must(regcomp(&exclude, "^f2x", REG_EXTENDED | REG_NOSUB) == 0);
	for (unsigned int i = 0; i < 256; i++) {
		struct transform s = {
			.norm = i & 1,
			.focus = i & 2 ? &focus : NULL,
			.exclude = i & 4 ? &exclude : NULL,
			.base = i & 8 ? &focus : NULL,
			.collapse = i & 16,
			.reverse = i & 32,
			.min = (i >> 6) * (uint64_t)TRANSFORM_PERCENT,
		};
		profile_weight before;
		struct profile p;

		must(profile_init(&p));
		fill(&p);
		check_profile(&p);
		memcpy(before, p.total, sizeof(before));
		must(transform_apply(&s, &p));
		check_profile(&p);
		must(p.total[0] + p.total[1] > 0);
		must((i & 14) || memcmp(before, p.total, sizeof(before)) == 0);
		profile_release(&p);
	}
	regfree(&focus);
	regfree(&exclude);
	check(true, "256 ways to make a profile over");
	return checks_done();
}
