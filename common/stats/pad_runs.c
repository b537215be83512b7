#include "common/stats/pad_runs.h"

#include <stdlib.h>

/* Returns the weight of each run. The caller frees it; NULL: out of memory. */
static uint64_t *weigh_runs(const struct profile *p, uint32_t n)
{
	uint64_t *weights = calloc((size_t)n + 1, sizeof(*weights));

	for (size_t i = 0; weights && i < p->n_moments; i++) {
		if (p->moments[i].run < n)
			weights[p->moments[i].run] += p->moments[i].weight;
	}
	return weights;
}

static uint64_t common_weight(const uint64_t *weights, uint32_t n)
{
	uint64_t most = 1, times;

	for (uint32_t i = 0; i < n; i++)
		most = weights[i] > most ? weights[i] : most;
	times = UINT64_MAX / 2 / n / most;
	return most * (times < PAD_TIMES ? times : PAD_TIMES);
}

bool pad_runs(struct profile *p, const uint32_t *runs)
{
	uint32_t n = runs[0] + runs[1], label, node;
	uint64_t *weights = weigh_runs(p, n), common = weights ? common_weight(weights, n) : 0;
	bool good = weights && profile_label(p, slice_of("[no weight]"), &label) &&
		    profile_child(p, 0, label, &node);

	for (uint32_t run = 0; good && run < n; run++) {
		struct profile_moment m = { .side = run >= runs[0], .run = run, .node = node,
					    .weight = common > weights[run] ? common - weights[run] : 0 };

		good = profile_add_at(p, node, 0, m.side, m.weight) && profile_mark(p, &m);
	}
	free(weights);
	return good;
}
