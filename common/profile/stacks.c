#include "common/profile/stacks.h"

#include <stdlib.h>

#include "common/profile/folded.h"

static int compare(const void *a, const void *b)
{
	const struct stacks_item *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

bool stacks_init(struct stacks *s, const struct profile *p)
{
	struct folded_writer w;
	struct slice line;
	bool good;

	*s = (struct stacks){ 0 };
	good = folded_writer_init(&w, p, 1);
	while (good && folded_writer_next(&w, &line)) {
		good = grow_array(&s->list, &s->cap, s->n, sizeof(*s->list));
		if (good) {
			s->list[s->n] = (struct stacks_item){ p->nodes[w.node].self[0], w.node, (uint32_t)s->n };
			s->n++;
		}
	}
	good = good && !w.line.failed;
	folded_writer_release(&w);
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), compare);
	return good;
}

void stacks_release(struct stacks *s)
{
	free(s->list);
	*s = (struct stacks){ 0 };
}
