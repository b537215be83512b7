#include "common/views/top_stacks.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/folded/folded.h"

static int compare_stacks(const void *a, const void *b)
{
	const struct top_stacks_item *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

bool top_stacks_init(struct top_stacks *h, const struct profile *p)
{
	struct folded_writer w;
	struct slice line;
	bool good;

	*h = (struct top_stacks){ 0 };
	good = folded_writer_init(&w, p, 1);
	while (good && folded_writer_next(&w, &line)) {
		good = grow_array(&h->list, &h->cap, h->n, sizeof(*h->list));
		if (good) {
			h->list[h->n] = (struct top_stacks_item){ p->nodes[w.node].self[0], w.node, (uint32_t)h->n };
			h->n++;
		}
	}
	good = good && !w.line.failed;
	folded_writer_release(&w);
	if (h->n)
		qsort(h->list, h->n, sizeof(*h->list), compare_stacks);
	return good;
}

void top_stacks_release(struct top_stacks *h)
{
	free(h->list);
	*h = (struct top_stacks){ 0 };
}
