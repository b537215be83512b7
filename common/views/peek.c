#include "common/views/peek.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/search.h"

/* State of a walk over the tree: open counts how often each call is on the path to the node. */
struct walk {
	struct peek *k;
	const struct profile *p;
	const bool *chosen;
	profile_weight *totals;
	struct idmap numbers; /* caller and callee to number of the call */
	uint32_t *open;
	size_t cap_open;
	bool failed;
};

/* Returns whether the edge to the node is a call that was asked for; if so, sets *number, known or new. */
static bool find_call(struct walk *w, uint32_t at, uint32_t *number)
{
	const struct profile_node *node = &w->p->nodes[at], *parent = &w->p->nodes[node->parent];
	bool command = parent->parent == 0;
	struct peek *k = w->k;
	uint64_t key;

	if (node->parent == 0 || !(w->chosen[node->label] || (!command && w->chosen[parent->label])) ||
	    (!command && node->label == parent->label) || w->failed)
		return false;
	/* A command and a function may have the same name. */
	key = (uint64_t)parent->label << 32 | node->label | (uint64_t)command << 63;
	if (idmap_find(&w->numbers, key, number))
		return true;
	*number = (uint32_t)k->n;
	if (!grow_array(&k->by_callee, &k->cap, k->n, sizeof(*k->by_callee)) ||
	    !grow_array(&w->open, &w->cap_open, k->n, sizeof(*w->open)) || !idmap_set(&w->numbers, key, *number)) {
		w->failed = true;
		return false;
	}
	k->by_callee[k->n++] = (struct peek_call){ parent->label, node->label, command, 0 };
	return true;
}

static void open_call(void *context, uint32_t at)
{
	struct walk *w = context;
	uint32_t number;

	if (find_call(w, at, &number) && w->open[number]++ == 0)
		w->k->by_callee[number].weight += w->totals[at][0];
}

static void close_call(void *context, uint32_t at)
{
	struct walk *w = context;
	uint32_t number;

	if (find_call(w, at, &number))
		w->open[number]--;
}

static int by_name(const struct profile *p, uint32_t a, uint32_t b)
{
	struct slice s = profile_text(p, a), t = profile_text(p, b);
	int differ = memcmp(s.p, t.p, s.n < t.n ? s.n : t.n);

	return differ ? differ : s.n < t.n ? -1 : s.n > t.n;
}

static int by_weight(const struct peek_call *x, const struct peek_call *y)
{
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static int compare_callers(const void *a, const void *b, void *context)
{
	const struct peek_call *x = a, *y = b;
	int differ = x->callee < y->callee ? -1 : x->callee > y->callee;

	differ = differ ? differ : by_weight(x, y);
	differ = differ ? differ : by_name(context, x->caller, y->caller);
	return differ ? differ : x->command - y->command;
}

static int compare_callees(const void *a, const void *b, void *context)
{
	const struct peek_call *x = a, *y = b;
	int differ = x->command - y->command; /* a command is never asked about */

	differ = differ ? differ : x->caller < y->caller ? -1 : x->caller > y->caller;
	differ = differ ? differ : by_weight(x, y);
	return differ ? differ : by_name(context, x->callee, y->callee);
}

/*
 * Removes calls without weight: they belong to stacks that were taken out of the profile. Sorts the others.
 */
static bool put_in_order(struct peek *k, const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (k->by_callee[i].weight)
			k->by_callee[n++] = k->by_callee[i];
	}
	k->n = n;
	if (n == 0)
		return true;
	k->by_caller = malloc(n * sizeof(*k->by_caller));
	if (!k->by_caller)
		return false;
	memcpy(k->by_caller, k->by_callee, n * sizeof(*k->by_caller));
	qsort_r(k->by_callee, n, sizeof(*k->by_callee), compare_callers, (void *)p);
	qsort_r(k->by_caller, n, sizeof(*k->by_caller), compare_callees, (void *)p);
	return true;
}

bool peek_init(struct peek *k, const struct profile *p, const bool *chosen)
{
	struct walk w = { .k = k, .p = p, .chosen = chosen, .totals = profile_below(p) };
	bool good;

	*k = (struct peek){ 0 };
	idmap_init(&w.numbers);
	if (w.totals)
		profile_walk(p, open_call, close_call, &w);
	good = w.totals && !w.failed && put_in_order(k, p);
	idmap_release(&w.numbers);
	free(w.open);
	free(w.totals);
	return good;
}

void peek_release(struct peek *k)
{
	free(k->by_callee);
	free(k->by_caller);
	*k = (struct peek){ 0 };
}

/* Returns where the calls of a key begin; those of commands come after all others. */
static size_t first_of(const struct peek *k, bool callees, uint64_t label)
{
	if (callees)
		return SEARCH_COUNT(k->n, i, !k->by_caller[i].command && k->by_caller[i].caller < label);
	return SEARCH_COUNT(k->n, i, k->by_callee[i].callee < label);
}

const struct peek_call *peek_callers(const struct peek *k, uint32_t label, size_t *n)
{
	size_t first = first_of(k, false, label);

	*n = first_of(k, false, (uint64_t)label + 1) - first;
	return *n ? k->by_callee + first : NULL;
}

const struct peek_call *peek_callees(const struct peek *k, uint32_t label, size_t *n)
{
	size_t first = first_of(k, true, label);

	*n = first_of(k, true, (uint64_t)label + 1) - first;
	return *n ? k->by_caller + first : NULL;
}
