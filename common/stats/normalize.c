#include "common/stats/normalize.h"

#include <stdlib.h>

#include "common/profile/folded.h"

/* A stack of A and what scaling left over when its weight was rounded down. */
struct rest {
	uint64_t rest;
	size_t line; /* in the order of the output, so that ties fall the same way whatever the input was */
	uint32_t node;
};

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* All stacks with weight in A, in the order of the output. */
static bool list_lines(const struct profile *p, struct rest **list, size_t *n)
{
	struct folded_writer w;
	struct slice line;
	size_t cap = 0;
	bool good = folded_writer_init(&w, p, PROFILE_SIDES);

	while (good && folded_writer_next(&w, &line)) {
		if (!p->nodes[w.node].self[0])
			continue;
		good = grow_array(list, &cap, *n, sizeof(**list));
		if (good)
			(*list)[*n] = (struct rest){ .line = *n, .node = w.node };
		*n += good;
	}
	good = good && !w.line.failed;
	folded_writer_release(&w);
	return good;
}

/* Rounding down leaves fewer units to give away than there are stacks: those with the largest remainders get one each. */
bool normalize(struct profile *p)
{
	uint64_t from = p->total[0], to = p->total[1], left = to;
	struct rest *list = NULL;
	size_t n = 0;

	if (!from || !to || from == to)
		return true;
	if (!list_lines(p, &list, &n)) {
		free(list);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t *self = &p->nodes[list[i].node].self[0];
		unsigned __int128 scaled = (unsigned __int128)*self * to;

		*self = (uint64_t)(scaled / from);
		list[i].rest = (uint64_t)(scaled % from);
		left -= *self;
	}
	qsort(list, n, sizeof(*list), by_rest);
	for (size_t i = 0; i < n && left; i++, left--)
		p->nodes[list[i].node].self[0]++;
	p->total[0] = to;
	free(list);
	return true;
}
