#include "common/flame/layout.h"

#include <stdlib.h>

#include "common/profile/projection.h"

/* A name of the profile in one of its two roles: as the process (or thread), or as a function. */
struct role {
	struct flame_label label;
	uint32_t from; /* label of the profile * 2, plus 1 for the process */
};

/* Orders a process after functions of the same name, so that the functions are adjacent. */
static int kind_order(enum kind kind)
{
	return kind == KIND_ROOT ? KINDS : (int)kind;
}

static int compare_texts(struct slice s, struct slice t)
{
	size_t n = s.n < t.n ? s.n : t.n;
	int differ = n ? memcmp(s.p, t.p, n) : 0;

	return differ ? differ : s.n < t.n ? -1 : s.n > t.n;
}

static int by_text(const void *a, const void *b)
{
	const struct role *x = a, *y = b;
	int differ = compare_texts(x->label.text, y->label.text);

	if (differ == 0)
		differ = kind_order(x->label.kind) - kind_order(y->label.kind);
	if (differ == 0)
		differ = compare_texts(x->label.module, y->label.module);
	return differ ? differ : x->from < y->from ? -1 : x->from > y->from;
}

/*
 * Returns for each node how many nodes of its subtree have weight at or below them. Children come after
 * parents. The caller frees it; NULL: out of memory.
 */
static uint32_t *count_nodes(const struct profile *p)
{
	uint32_t *sizes = calloc(p->n, sizeof(*sizes));

	for (size_t i = sizes ? p->n - 1 : 0; i > 0; i--) {
		const struct profile_node *node = &p->nodes[i];

		if (!sizes[i] && !node->self[0] && !node->self[1])
			continue;
		sizes[i]++;
		sizes[node->parent] += sizes[i];
	}
	if (sizes)
		sizes[0]++;
	return sizes;
}

bool flame_tree_sum(struct flame_tree *t)
{
	const struct profile *p = t->p;

	t->totals = calloc(p->n, sizeof(*t->totals));
	for (size_t i = p->n; t->totals && i-- > 0;) {
		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			t->totals[i][side] += p->nodes[i].self[side];
			if (i > 0)
				t->totals[p->nodes[i].parent][side] += t->totals[i][side];
		}
	}
	return t->totals;
}

static uint32_t role_of(const struct flame_tree *t, const uint32_t *sizes, uint32_t node)
{
	const struct profile_node *at = &t->p->nodes[node];

	return at->label * 2 + (t->reversed ? sizes[node] == 1 : at->parent == 0);
}

static struct role make_role(const struct profile *p, uint32_t from, const uint8_t *kinds)
{
	struct slice whole = profile_text(p, from / 2);
	struct role r = { .label = { .text = projection_part(whole, 0), .kind = KIND_ROOT }, .from = from };

	if (r.label.text.n + 1 < whole.n)
		kind_of(projection_part(whole, 1), &r.label.module);
	if (!(from & 1))
		r.label.kind = kinds ? kinds[from / 2] : kind_of(r.label.text, &r.label.text);
	return r;
}

/* Returns the names in the roles in which they occur, sorted. The caller frees them; NULL: out of memory. */
static struct role *list_roles(const struct flame_tree *t, const uint32_t *sizes, const uint8_t *kinds, size_t *n)
{
	const struct profile *p = t->p;
	uint8_t *seen = calloc(p->labels.n + 1, 2);
	struct role *roles = malloc((p->labels.n * 2 + 1) * sizeof(*roles));

	*n = 0;
	for (uint32_t i = 1; seen && roles && i < p->n; i++) {
		uint32_t from = role_of(t, sizes, i);

		if (!sizes[i] || seen[from])
			continue;
		seen[from] = 1;
		roles[(*n)++] = make_role(p, from, kinds);
	}
	free(seen);
	if (roles)
		qsort(roles, *n, sizeof(*roles), by_text);
	return seen ? roles : NULL;
}

static bool same_name(const struct role *a, const struct role *b, bool one_kind)
{
	return slice_equal(a->label.text, b->label.text) && slice_equal(a->label.module, b->label.module) &&
	       (a->label.kind == KIND_ROOT) == (b->label.kind == KIND_ROOT) &&
	       (one_kind || a->label.kind == b->label.kind);
}

/* Returns whether siblings could have the same name and be drawn as two boxes. */
static bool names_meet(const struct role *roles, size_t n, bool one_kind)
{
	for (size_t i = 1; i < n; i++) {
		if (same_name(&roles[i - 1], &roles[i], one_kind))
			return true;
	}
	return false;
}

static int by_label(const void *a, const void *b)
{
	const struct flame_node *x = a, *y = b;

	return x->label < y->label ? -1 : x->label > y->label;
}

/*
 * Sorts a few children by insertion: most nodes have one child, few have more than a handful, but the root
 * may have 60,000.
 */
static void sort_children(struct flame_node *c, size_t n)
{
	enum { FEW = 12 };

	if (n > FEW) {
		qsort(c, n, sizeof(*c), by_label);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct flame_node moving = c[i];
		size_t at = i;

		for (; at > 0 && c[at - 1].label > moving.label; at--)
			c[at] = c[at - 1];
		c[at] = moving;
	}
}

/*
 * The subtree of a node at index i is [i, i + size), which is known as soon as i is. So the node's children
 * are written right after it and sorted. Then they are moved to the beginnings of their own ranges, from the
 * last one on: no stack is needed, and each node is moved only once.
 */
static void place_children(struct flame_tree *t, const uint32_t *sizes, const uint32_t *numbers, size_t i)
{
	const struct profile_node *nodes = t->p->nodes;
	struct flame_node *at = &t->nodes[i], *c = at + 1;
	size_t n = 0, end = i + at->size;

	for (uint32_t child = nodes[at->node].first; child; child = nodes[child].next) {
		if (sizes[child])
			c[n++] = (struct flame_node){ .node = child,
						      .label = numbers[role_of(t, sizes, child)],
						      .size = sizes[child] };
	}
	at->children = (uint32_t)n;
	if (n > 1)
		sort_children(c, n);
	while (n-- > 0) {
		end -= c[n].size;
		t->nodes[end] = c[n];
	}
}

static bool lay_out(struct flame_tree *t, const uint32_t *sizes, const struct role *roles, size_t n_roles)
{
	uint32_t *numbers = calloc(t->p->labels.n + 1, 2 * sizeof(*numbers));

	t->n = sizes[0];
	t->n_labels = n_roles;
	t->nodes = malloc(t->n * sizeof(*t->nodes));
	t->labels = malloc((n_roles + 1) * sizeof(*t->labels));
	if (numbers && t->nodes && t->labels) {
		for (size_t i = 0; i < n_roles; i++) {
			t->labels[i] = roles[i].label;
			numbers[roles[i].from] = (uint32_t)i;
		}
		t->nodes[0] = (struct flame_node){ .size = sizes[0] };
		for (size_t i = 0; i < t->n; i++)
			place_children(t, sizes, numbers, i);
	}
	free(numbers);
	return numbers && t->nodes && t->labels;
}

/* Keeps the most specific kind of a name whose frames have several. */
static void note_kind(uint8_t *kind, enum kind seen)
{
	static const uint8_t weight[KINDS] = { [KIND_NONAME] = 1, [KIND_INTERPRETED] = 2, [KIND_INLINED] = 3, [KIND_JIT] = 4,
					       [KIND_KERNEL] = 5 };

	if (weight[seen] > weight[*kind])
		*kind = (uint8_t)seen;
}

/*
 * Copies the profile with one label for each name of a kind, or for each name. *kinds: the kind of each
 * label. Names keep their suffix if kinds are not merged.
 */
static bool merge_names(struct flame_tree *t, bool one_kind, uint8_t **kinds)
{
	const struct profile *p = t->p;
	uint32_t *labels = calloc(p->labels.n + 1, sizeof(*labels));
	struct buf name = { 0 };
	bool good = profile_init(&t->merged) && labels;

	t->has_merged = true;
	*kinds = calloc(p->labels.n + 1, 1);
	for (uint32_t i = 0; good && *kinds && i < p->labels.n; i++) {
		struct slice whole = profile_text(p, i), first = projection_part(whole, 0), text;
		enum kind kind = kind_of(first, &text);

		buf_clear(&name);
		buf_bytes(&name, text.p, text.n);
		if (!one_kind && (kind == KIND_KERNEL || kind == KIND_INLINED || kind == KIND_JIT))
			buf_printf(&name, "_[%c]", kind == KIND_KERNEL ? 'k' : kind == KIND_INLINED ? 'i' : 'j');
		buf_bytes(&name, whole.p + first.n, whole.n - first.n);
		good = !name.failed && profile_label(&t->merged, buf_view(&name), &labels[i]);
		if (good)
			note_kind(&(*kinds)[labels[i]], kind);
	}
	for (unsigned int side = 0; good && side < PROFILE_SIDES; side++)
		good = profile_claim(&t->merged, side, p->total[side]);
	good = good && *kinds && profile_pour(&t->merged, p, labels);
	buf_release(&name);
	free(labels);
	if (good)
		t->p = &t->merged;
	return good;
}

static bool build_tree(struct flame_tree *t, const uint8_t *kinds, bool one_kind, bool *meet)
{
	uint32_t *sizes = count_nodes(t->p);
	struct role *roles = NULL;
	bool good;
	size_t n;

	if (sizes)
		roles = list_roles(t, sizes, kinds, &n);
	*meet = roles && !kinds && names_meet(roles, n, one_kind);
	good = roles && (*meet || lay_out(t, sizes, roles, n));
	free(sizes);
	free(roles);
	return good;
}

bool flame_tree_init(struct flame_tree *t, const struct profile *p, bool one_kind, bool reversed)
{
	uint8_t *kinds = NULL;
	bool meet, good;

	*t = (struct flame_tree){ .p = p, .reversed = reversed };
	good = build_tree(t, NULL, one_kind, &meet);
	if (good && meet)
		good = merge_names(t, one_kind, &kinds) &&
		       build_tree(t, one_kind ? kinds : NULL, one_kind, &meet);
	free(kinds);
	return good;
}

void flame_tree_release(struct flame_tree *t)
{
	free(t->labels);
	free(t->nodes);
	free(t->totals);
	if (t->has_merged)
		profile_release(&t->merged);
	*t = (struct flame_tree){ 0 };
}

uint32_t *flame_tree_places(const struct flame_tree *t)
{
	uint32_t *places = calloc(t->p->n, sizeof(*places));

	for (size_t i = 1; places && i < t->n; i++)
		places[t->nodes[i].node] = (uint32_t)i;
	return places;
}
