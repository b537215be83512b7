#include "common/views/slices.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/folded/folded.h"

static int by_place(const void *a, const void *b, void *context)
{
	const struct origins *origins = context;
	const struct origin *x = origins_get(origins, *(const uint32_t *)a), *y = origins_get(origins, *(const uint32_t *)b);
	int differ = slice_compare(x->host, y->host);

	differ = differ ? differ : slice_compare(x->container, y->container);
	differ = differ ? differ : slice_compare(x->labels, y->labels);
	differ = differ ? differ : slice_compare(x->comm, y->comm);
	return differ ? differ : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Returns, by origin, its place in the sort order; 0 for no origin. */
static uint32_t *places_of(const struct origins *o)
{
	size_t n = o->keys.n + 1;
	uint32_t *order = malloc(n * sizeof(*order)), *place = calloc(n, sizeof(*place));

	if (order && place) {
		for (size_t i = 0; i < n; i++)
			order[i] = (uint32_t)i;
		if (n > 2)
			qsort_r(order + 1, n - 1, sizeof(*order), by_place, (void *)o);
		for (size_t i = 0; i < n; i++)
			place[order[i]] = (uint32_t)i;
	} else {
		free(place);
		place = NULL;
	}
	free(order);
	return place;
}

/* Returns, by node with weight, the number of its line in folded text. */
static uint32_t *ranks_of(const struct profile *p)
{
	uint32_t *rank = calloc(p->n, sizeof(*rank)), n = 0;
	struct folded_writer w;
	struct slice line;
	bool good = rank && folded_writer_init(&w, p, 1);

	if (good) {
		while (folded_writer_next(&w, &line))
			rank[w.node] = n++;
		good = !w.line.failed;
		folded_writer_release(&w);
	}
	if (!good) {
		free(rank);
		rank = NULL;
	}
	return rank;
}

static bool add_slice(struct slices *m, const struct slices_entry *e)
{
	if (e->weight == 0)
		return true;
	if (!grow_array(&m->entries, &m->cap, m->n, sizeof(*m->entries)))
		return false;
	m->entries[m->n++] = *e;
	return true;
}

static bool add_all_slices(struct slices *m, uint64_t length, const uint32_t *place, const uint32_t *rank,
			   uint64_t *rest)
{
	const struct profile *p = m->p;
	bool good = true;

	for (size_t i = 1; i < p->n; i++)
		rest[i] = p->nodes[i].self[0];
	for (size_t i = 0; good && i < p->n_moments; i++) {
		const struct profile_moment *t = &p->moments[i];

		if (t->side != 0)
			continue;
		rest[t->node] -= t->weight;
		good = add_slice(m, &(struct slices_entry){
			origins_time(m->origins, t->run, t->slice, length), t->weight, t->origin,
			place[t->origin], rank[t->node], t->node });
	}
	for (size_t i = 1; good && i < p->n; i++)
		good = add_slice(m, &(struct slices_entry){
			.weight = rest[i], .rank = rank[i], .node = (uint32_t)i });
	return good;
}

static int by_row(const void *a, const void *b)
{
	const struct slices_entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

bool slices_init(struct slices *m, const struct profile *p, const struct origins *o, uint64_t length)
{
	uint32_t *place = places_of(o), *rank = ranks_of(p);
	uint64_t *rest = calloc(p->n, sizeof(*rest));
	bool good;

	*m = (struct slices){ .p = p, .origins = o };
	good = place && rank && rest && add_all_slices(m, length, place, rank, rest);
	if (good && m->n)
		qsort(m->entries, m->n, sizeof(*m->entries), by_row);
	free(place);
	free(rank);
	free(rest);
	return good;
}

/* Writes the text of a stack into m->stack, from its innermost frame outwards. */
static void put_stack(struct slices *m, uint32_t node)
{
	const struct profile_node *nodes = m->p->nodes;
	size_t n = 0;

	for (uint32_t at = node; at; at = nodes[at].parent)
		n += profile_text(m->p, nodes[at].label).n + (nodes[at].parent != 0);
	buf_clear(&m->stack);
	if (!buf_reserve(&m->stack, n))
		return;
	m->stack.n = n;
	for (uint32_t at = node; at; at = nodes[at].parent) {
		struct slice name = profile_text(m->p, nodes[at].label);

		n -= name.n;
		memcpy(m->stack.p + n, name.p, name.n);
		if (nodes[at].parent)
			m->stack.p[--n] = ';';
	}
}

bool slices_next(struct slices *m, struct slices_row *row)
{
	const struct slices_entry *e = &m->entries[m->at];

	if (m->at == m->n || m->failed)
		return false;
	*row = (struct slices_row){ e->origin ? origins_get(m->origins, e->origin) : NULL, e->time, { NULL, 0 }, 0 };
	for (; m->at < m->n && by_row(e, &m->entries[m->at]) == 0; m->at++)
		row->weight += m->entries[m->at].weight;
	put_stack(m, e->node);
	m->failed = m->stack.failed;
	row->stack = buf_view(&m->stack);
	return !m->failed;
}

void slices_release(struct slices *m)
{
	free(m->entries);
	buf_release(&m->stack);
	*m = (struct slices){ 0 };
}
