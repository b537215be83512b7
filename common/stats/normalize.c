#include "common/stats/normalize.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/hash.h"

/* A stack of side 0 and the remainder after rounding down its scaled weight. */
struct rest {
	uint64_t rest;
	uint64_t tie; /* a hash of the stack's text, so that ties do not depend on the order of input */
	uint32_t node;
};

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->tie < y->tie ? -1 : x->tie > y->tie;
}

/*
 * Hashes the stack of each node from its parent's hash and its label, so that no stack is written out. The
 * caller frees the hashes; NULL: out of memory.
 */
static uint64_t *hash_stacks(const struct profile *p)
{
	uint64_t *labels = malloc(p->labels.n * sizeof(*labels)), *nodes = calloc(p->n, sizeof(*nodes));

	for (uint32_t i = 0; labels && nodes && i < p->labels.n; i++)
		labels[i] = hash_bytes(profile_text(p, i).p, profile_text(p, i).n);
	for (size_t i = 1; labels && nodes && i < p->n; i++)
		nodes[i] = hash_u64(nodes[p->nodes[i].parent] + labels[p->nodes[i].label]);
	if (!labels) {
		free(nodes);
		nodes = NULL;
	}
	free(labels);
	return nodes;
}

/* Lists all stacks with weight on side 0. */
static bool list_stacks(const struct profile *p, struct rest **list, size_t *n)
{
	uint64_t *hashes = hash_stacks(p);
	size_t cap = 0;
	bool good = hashes;

	for (size_t i = 1; good && i < p->n; i++) {
		if (!p->nodes[i].self[0])
			continue;
		good = grow_array(list, &cap, *n, sizeof(**list));
		if (good)
			(*list)[(*n)++] = (struct rest){ .tie = hashes[i], .node = (uint32_t)i };
	}
	free(hashes);
	return good;
}

/*
 * Rounding down leaves fewer units to distribute than there are stacks: the stacks with the largest
 * remainders get one each.
 */
bool normalize(struct profile *p)
{
	uint64_t from = p->total[0], to = p->total[1], left = to;
	struct rest *list = NULL;
	size_t n = 0;

	if (!from || !to || from == to)
		return true;
	if (!list_stacks(p, &list, &n)) {
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
