#include "common/folded/folded.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"

/*
 * Order of lines. A name in a line is followed by a space or by `;`, and names that sort between the two
 * (`foo.part.0`) come between a function's own line and those of its callees. So the order of lines is
 * that of the keys "name " and "name;". They are sorted once for all names, and are numbers from then on.
 */
struct order_key {
	struct slice name;
	uint32_t number; /* label * 2 + below */
};

static uint8_t key_byte(const struct order_key *k, size_t i)
{
	return i < k->name.n ? k->name.p[i] : k->number & 1 ? ';' : '\0';
}

static int by_key(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int differ = memcmp(x->name.p, y->name.p, n);

	if (differ == 0)
		differ = (int)key_byte(x, n) - (int)key_byte(y, n);
	if (differ == 0) /* one name continues where the other ends in `;`, which no name contains */
		differ = x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
	return differ;
}

/* Returns the rank in the order, by label * 2 + below. The caller frees the array. */
static uint32_t *rank_names(const struct intern *labels)
{
	size_t n = labels->n * 2;
	struct order_key *keys = malloc(n * sizeof(*keys));
	uint32_t *rank = malloc(n * sizeof(*rank));

	if (keys && rank) {
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct order_key){ labels->items[i / 2], (uint32_t)i };
		qsort(keys, n, sizeof(*keys), by_key);
		for (size_t i = 0; i < n; i++)
			rank[keys[i].number] = (uint32_t)i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(keys);
	return rank;
}

static bool has_weight(const struct profile_node *node)
{
	return node->self[0] || node->self[1];
}

static bool push_entry(struct folded_writer *w, uint32_t node, bool below)
{
	if (!grow_array(&w->entries, &w->cap_entries, w->n_entries, sizeof(*w->entries)))
		return false;
	w->entries[w->n_entries++] =
		(struct folded_entry){ w->rank[w->p->nodes[node].label * 2 + below], node, below };
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct folded_entry *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void sort_entries(struct folded_entry *e, size_t n)
{
	enum { FEW = 16 };

	if (n > FEW) {
		qsort(e, n, sizeof(*e), by_rank);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct folded_entry moving = e[i];
		size_t at = i;

		for (; at > 0 && e[at - 1].rank > moving.rank; at--)
			e[at] = e[at - 1];
		e[at] = moving;
	}
}

/* Goes down into the node: pushes its children's entries, in order. */
static bool push_level(struct folded_writer *w, uint32_t node)
{
	const struct profile_node *nodes = w->p->nodes;
	size_t first = w->n_entries;

	for (uint32_t child = nodes[node].first; child; child = nodes[child].next) {
		if ((has_weight(&nodes[child]) && !push_entry(w, child, false)) ||
		    (nodes[child].first && !push_entry(w, child, true)))
			return false;
	}
	if (w->n_entries > first) /* an empty profile has no entries at all */
		sort_entries(w->entries + first, w->n_entries - first);
	if (!grow_array(&w->levels, &w->cap_levels, w->n_levels, sizeof(*w->levels)))
		return false;
	w->levels[w->n_levels++] = (struct folded_level){ first, first, w->n_entries, w->line.n };
	return true;
}

bool folded_writer_init(struct folded_writer *w, const struct profile *p, unsigned int columns)
{
	*w = (struct folded_writer){ .p = p, .columns = columns, .rank = rank_names(&p->labels) };
	return w->rank && push_level(w, 0);
}

void folded_writer_release(struct folded_writer *w)
{
	free(w->rank);
	free(w->entries);
	free(w->levels);
	buf_release(&w->line);
	*w = (struct folded_writer){ 0 };
}

void folded_append_count(struct buf *out, uint64_t v)
{
	uint8_t digits[20];
	size_t n = sizeof(digits);

	do
		digits[--n] = (uint8_t)('0' + v % 10);
	while (v /= 10);
	buf_byte(out, ' ');
	buf_bytes(out, digits + n, sizeof(digits) - n);
}

bool folded_writer_next(struct folded_writer *w, struct slice *line)
{
	while (w->n_levels) {
		struct folded_level *level = &w->levels[w->n_levels - 1];
		const struct profile_node *node;
		struct folded_entry e;
		struct slice name;

		w->line.n = level->length;
		if (level->next == level->end) {
			w->n_entries = level->first;
			w->n_levels--;
			continue;
		}
		e = w->entries[level->next++];
		node = &w->p->nodes[e.node];
		name = profile_text(w->p, node->label);
		buf_bytes(&w->line, name.p, name.n);
		if (e.below) {
			buf_byte(&w->line, ';');
			if (!push_level(w, e.node))
				w->line.failed = true;
		} else {
			w->stack_bytes = w->line.n;
			for (unsigned int side = 0; side < w->columns; side++)
				folded_append_count(&w->line, node->self[side]);
			buf_byte(&w->line, '\n');
		}
		if (w->line.failed)
			return false;
		*line = buf_view(&w->line);
		w->node = e.node;
		if (!e.below)
			return true;
	}
	return false;
}

bool folded_pour(struct stack_sums *l, struct profile *p)
{
	struct folded_writer w;
	struct slice line;
	bool good = folded_writer_init(&w, p, 1);

	errno = ENOMEM;
	while (good && folded_writer_next(&w, &line))
		good = stack_sums_add(l, (struct slice){ line.p, w.stack_bytes }, p->nodes[w.node].self[0]);
	good = good && !w.line.failed;
	folded_writer_release(&w);
	return good && profile_empty(p);
}
