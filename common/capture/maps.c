#include "common/capture/maps.h"

#include <stdlib.h>

/*
 * A weight-balanced tree, after Adams (Journal of Functional Programming 3(4), 1993), with the parameters
 * that Hirai and Yamamoto proved correct (JFP 21(3), 2011): no side is more than three times as heavy as the
 * other, and joining two sides needs one single or double rotation per level. The depth is at most 2.41 times
 * the binary logarithm, so recursion is safe.
 */
enum { DELTA = 3, GAMMA = 2 };

struct map_node {
	struct map map;
	struct map_node *left, *right;
	size_t n;     /* mappings in this subtree */
	size_t refs;  /* parents, in however many trees */
	bool uniform; /* all mappings of this subtree have the same place */
};

/* The functions below consume and return references to subtrees. A failed allocation sets *ok to false. */

static size_t count_maps(const struct map_node *t)
{
	return t ? t->n : 0;
}

static size_t weight_of(const struct map_node *t)
{
	return count_maps(t) + 1;
}

static struct map_node *add_ref(struct map_node *t)
{
	if (t)
		t->refs++;
	return t;
}

static void drop_ref(struct map_node *t)
{
	if (!t || --t->refs)
		return;
	drop_ref(t->left);
	drop_ref(t->right);
	free(t);
}

/* Returns true if both map every common address to the same offset of the same file. */
static bool same_place(const struct map *a, const struct map *b)
{
	return a->file == b->file && a->file != 0 && a->start - a->offset == b->start - b->offset;
}

/* Returns true if all mappings of the subtree, maybe of none, have this place. */
static bool all_same(const struct map_node *t, const struct map *m)
{
	return !t || (t->uniform && same_place(&t->map, m));
}

static struct map_node *make_node(struct map_node *left, const struct map *m, struct map_node *right, bool *ok)
{
	struct map_node *t = *ok ? malloc(sizeof(*t)) : NULL;

	if (!t) {
		*ok = false;
		drop_ref(left);
		drop_ref(right);
		return NULL;
	}
	*t = (struct map_node){ *m, left, right, count_maps(left) + 1 + count_maps(right), 1,
				all_same(left, m) && all_same(right, m) };
	return t;
}

/* Both sides are balanced; left may be too heavy for right by as much as one insertion or join adds. */
static struct map_node *balance_left(struct map_node *left, const struct map *m, struct map_node *right,
				     bool *ok)
{
	struct map_node *t = left, *outer, *inner;

	if (!*ok || weight_of(left) <= DELTA * weight_of(right))
		return make_node(left, m, right, ok);
	outer = add_ref(t->left);
	inner = t->right;
	if (weight_of(inner) < GAMMA * weight_of(outer)) {
		right = make_node(add_ref(inner), m, right, ok);
	} else {
		right = make_node(add_ref(inner->right), m, right, ok);
		outer = make_node(outer, &t->map, add_ref(inner->left), ok);
		t = inner;
	}
	t = make_node(outer, &t->map, right, ok);
	drop_ref(left);
	return t;
}

static struct map_node *balance_right(struct map_node *left, const struct map *m, struct map_node *right,
				     bool *ok)
{
	struct map_node *t = right, *outer, *inner;

	if (!*ok || weight_of(right) <= DELTA * weight_of(left))
		return make_node(left, m, right, ok);
	outer = add_ref(t->right);
	inner = t->left;
	if (weight_of(inner) < GAMMA * weight_of(outer)) {
		left = make_node(left, m, add_ref(inner), ok);
	} else {
		left = make_node(left, m, add_ref(inner->left), ok);
		outer = make_node(add_ref(inner->right), &t->map, outer, ok);
		t = inner;
	}
	t = make_node(left, &t->map, outer, ok);
	drop_ref(right);
	return t;
}

/* Joins left, m and right, of any sizes. */
static struct map_node *join_around(struct map_node *left, const struct map *m, struct map_node *right, bool *ok)
{
	struct map_node *t;

	if (*ok && weight_of(left) > DELTA * weight_of(right)) {
		right = join_around(add_ref(left->right), m, right, ok);
		t = balance_right(add_ref(left->left), &left->map, right, ok);
		drop_ref(left);
		return t;
	}
	if (*ok && weight_of(right) > DELTA * weight_of(left)) {
		left = join_around(left, m, add_ref(right->left), ok);
		t = balance_left(left, &right->map, add_ref(right->right), ok);
		drop_ref(right);
		return t;
	}
	return make_node(left, m, right, ok);
}

/* Returns the part of t before address at; tail_from returns the rest. Neither consumes t. */
static struct map_node *head_until(struct map_node *t, uint64_t at, bool *ok)
{
	struct map piece;

	if (!t || at <= t->map.start)
		return t ? head_until(t->left, at, ok) : NULL;
	piece = t->map;
	if (piece.end > at)
		piece.end = at;
	return join_around(add_ref(t->left), &piece, head_until(t->right, at, ok), ok);
}

static struct map_node *tail_from(struct map_node *t, uint64_t at, bool *ok)
{
	struct map piece;

	if (!t || at >= t->map.end)
		return t ? tail_from(t->right, at, ok) : NULL;
	piece = t->map;
	if (piece.start < at) {
		piece.offset += at - piece.start;
		piece.start = at;
	}
	return join_around(tail_from(t->left, at, ok), &piece, add_ref(t->right), ok);
}

static const struct map *first_map(const struct map_node *t)
{
	while (t->left)
		t = t->left;
	return &t->map;
}

/* Joins left and right. Consumes both. */
static struct map_node *join_two(struct map_node *left, struct map_node *right, bool *ok)
{
	struct map_node *rest;
	struct map m;

	if (!*ok || !right) {
		drop_ref(right);
		return left;
	}
	m = *first_map(right);
	rest = tail_from(right, m.end, ok);
	drop_ref(right);
	return join_around(left, &m, rest, ok);
}

/*
 * Returns true if any mapping in [start, end) differs in meaning from put. Visits one path along each end of
 * the range: forked processes share their parent's nodes, so a few bytes could cause a walk over all of them.
 */
static bool differs_from(const struct map_node *t, uint64_t start, uint64_t end, const struct map *put)
{
	if (!t)
		return false;
	if (t->map.end <= start)
		return differs_from(t->right, start, end, put);
	if (t->map.start >= end)
		return differs_from(t->left, start, end, put);
	if (!put || !same_place(&t->map, put))
		return true;
	if (t->uniform)
		return false;
	return differs_from(t->left, start, end, put) || differs_from(t->right, start, end, put);
}

/* Replaces all mappings in [start, end) by put, which has exactly that range, or by none if put is NULL. */
static bool replace_range(struct maps *s, uint64_t start, uint64_t end, const struct map *put, bool *changed)
{
	bool ok = true, other = differs_from(s->root, start, end, put);
	struct map_node *left, *right, *root;

	if (!put && !other)
		return true;
	left = head_until(s->root, start, &ok);
	right = tail_from(s->root, end, &ok);
	root = put ? join_around(left, put, right, &ok) : join_two(left, right, &ok);
	if (!ok) {
		drop_ref(root);
		return false;
	}
	drop_ref(s->root);
	s->root = root;
	*changed |= other;
	return true;
}

bool maps_add(struct maps *s, const struct map *m, bool *changed)
{
	return m->start >= m->end || replace_range(s, m->start, m->end, m, changed);
}

bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed)
{
	return start >= end || replace_range(s, start, end, NULL, changed);
}

const struct map *maps_find(const struct maps *s, uint64_t address)
{
	const struct map_node *t = s->root;

	while (t && (address < t->map.start || address >= t->map.end))
		t = address < t->map.start ? t->left : t->right;
	return t ? &t->map : NULL;
}

const struct map *maps_from(const struct maps *s, uint64_t address)
{
	const struct map *best = NULL;

	for (const struct map_node *t = s->root; t;) {
		if (t->map.end > address) {
			best = &t->map;
			t = t->left;
		} else {
			t = t->right;
		}
	}
	return best;
}

size_t maps_count(const struct maps *s)
{
	return count_maps(s->root);
}

void maps_copy(struct maps *s, const struct maps *from)
{
	s->root = add_ref(from->root);
}

void maps_release(struct maps *s)
{
	drop_ref(s->root);
	s->root = NULL;
}
