#include "common/stats/added.h"

#include <stdlib.h>

bool added_begin(struct added *a, const struct profile *p, unsigned int side)
{
	*a = (struct added){ .side = side, .n = p->n, .before = malloc(p->n * sizeof(*a->before)) };
	for (size_t i = 0; a->before && i < p->n; i++)
		a->before[i] = p->nodes[i].self[side];
	return a->before != NULL;
}

static uint64_t added_weight(const struct added *a, const struct profile *p, size_t node)
{
	return p->nodes[node].self[a->side] - (node < a->n ? a->before[node] : 0);
}

void added_end(struct added *a, const struct profile *p)
{
	for (size_t i = 1; i < p->n; i++) {
		uint64_t x = a->unit, y = added_weight(a, p, i);

		a->weight += y;
		while (y) {
			uint64_t rest = x % y;

			x = y;
			y = rest;
		}
		a->unit = x;
	}
}

bool added_mark(const struct added *a, struct profile *p)
{
	p->runs++;
	for (size_t i = 1; i < p->n; i++) {
		struct profile_moment m = { .side = a->side, .run = p->runs - 1, .node = (uint32_t)i,
					    .weight = added_weight(a, p, i) };

		if (m.weight && !profile_mark(p, &m))
			return false;
	}
	return true;
}

void added_release(struct added *a)
{
	free(a->before);
	*a = (struct added){ 0 };
}
