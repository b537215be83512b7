#include "common/capture/maps.h"

#include <stdlib.h>

/*
 * A tree balanced by weight, after Adams (Journal of Functional Programming 3(4), 1993), with the
 * parameters that Hirai and Yamamoto proved right (JFP 21(3), 2011): no side is more than three times
 * as heavy as the other, and two sides that are joined need one single or double rotation a level.
 * Depth is at most 2.41 times the logarithm, so recursion is safe.
 */
enum { DELTA = 3, GAMMA = 2 };

struct map_node {
	struct map map;
	struct map_node *left, *right;
	size_t n;    /* mappings in this subtree */
	size_t refs; /* parents, in however many trees */
};

/* What the functions below consume and return: a reference to a subtree. A failure is kept in *ok. */

static size_t count(const struct map_node *t)
{
	return t ? t->n : 0;
}

static size_t weight(const struct map_node *t)
{
	return count(t) + 1;
}

static struct map_node *share(struct map_node *t)
{
	if (t)
		t->refs++;
	return t;
}

static void drop(struct map_node *t)
{
	if (!t || --t->refs)
		return;
	drop(t->left);
	drop(t->right);
	free(t);
}

static struct map_node *make(struct map_node *left, const struct map *m, struct map_node *right, bool *ok)
{
	struct map_node *t = *ok ? malloc(sizeof(*t)) : NULL;

	if (!t) {
		*ok = false;
		drop(left);
		drop(right);
		return NULL;
	}
	*t = (struct map_node){ *m, left, right, count(left) + 1 + count(right), 1 };
	return t;
}

/* The sides are each balanced, and one may be too heavy for the other by what one level adds. */
static struct map_node *balance_left(struct map_node *left, const struct map *m, struct map_node *right,
				     bool *ok)
{
	struct map_node *t = left, *outer, *inner;

	if (!*ok || weight(left) <= DELTA * weight(right))
		return make(left, m, right, ok);
	outer = share(t->left);
	inner = t->right;
	if (weight(inner) < GAMMA * weight(outer)) {
		right = make(share(inner), m, right, ok);
	} else {
		right = make(share(inner->right), m, right, ok);
		outer = make(outer, &t->map, share(inner->left), ok);
		t = inner;
	}
	t = make(outer, &t->map, right, ok);
	drop(left);
	return t;
}

static struct map_node *balance_right(struct map_node *left, const struct map *m, struct map_node *right,
				     bool *ok)
{
	struct map_node *t = right, *outer, *inner;

	if (!*ok || weight(right) <= DELTA * weight(left))
		return make(left, m, right, ok);
	outer = share(t->right);
	inner = t->left;
	if (weight(inner) < GAMMA * weight(outer)) {
		left = make(left, m, share(inner), ok);
	} else {
		left = make(left, m, share(inner->left), ok);
		outer = make(share(inner->right), &t->map, outer, ok);
		t = inner;
	}
	t = make(left, &t->map, outer, ok);
	drop(right);
	return t;
}

/* All of left, m, all of right, of whatever sizes. */
static struct map_node *join(struct map_node *left, const struct map *m, struct map_node *right, bool *ok)
{
	struct map_node *t;

	if (*ok && weight(left) > DELTA * weight(right)) {
		right = join(share(left->right), m, right, ok);
		t = balance_right(share(left->left), &left->map, right, ok);
		drop(left);
		return t;
	}
	if (*ok && weight(right) > DELTA * weight(left)) {
		left = join(left, m, share(right->left), ok);
		t = balance_left(left, &right->map, share(right->right), ok);
		drop(right);
		return t;
	}
	return make(left, m, right, ok);
}

/* The part of t before address at, and with tail the part from there on; t is only lent. */
static struct map_node *head(struct map_node *t, uint64_t at, bool *ok)
{
	struct map piece;

	if (!t || at <= t->map.start)
		return t ? head(t->left, at, ok) : NULL;
	piece = t->map;
	if (piece.end > at)
		piece.end = at;
	return join(share(t->left), &piece, head(t->right, at, ok), ok);
}

static struct map_node *tail(struct map_node *t, uint64_t at, bool *ok)
{
	struct map piece;

	if (!t || at >= t->map.end)
		return t ? tail(t->right, at, ok) : NULL;
	piece = t->map;
	if (piece.start < at) {
		piece.offset += at - piece.start;
		piece.start = at;
	}
	return join(tail(t->left, at, ok), &piece, share(t->right), ok);
}

static const struct map *first(const struct map_node *t)
{
	while (t->left)
		t = t->left;
	return &t->map;
}

/* All of left, all of right. */
static struct map_node *join_two(struct map_node *left, struct map_node *right, bool *ok)
{
	struct map_node *rest;
	struct map m;

	if (!*ok || !right) {
		drop(right);
		return left;
	}
	m = *first(right);
	rest = tail(right, m.end, ok);
	drop(right);
	return join(left, &m, rest, ok);
}

/* Do both give every common address the same place in the same file? */
static bool same_place(const struct map *a, const struct map *b)
{
	return a->file == b->file && a->file != 0 && a->start - a->offset == b->start - b->offset;
}

/* Does any mapping in [start, end) mean something else than put does? */
static bool differs(const struct map_node *t, uint64_t start, uint64_t end, const struct map *put)
{
	if (!t)
		return false;
	if (t->map.end <= start)
		return differs(t->right, start, end, put);
	if (t->map.start >= end)
		return differs(t->left, start, end, put);
	return !put || !same_place(&t->map, put) || differs(t->left, start, end, put) ||
	       differs(t->right, start, end, put);
}

/* Replaces what lies in [start, end) by put, which has just that range, or by nothing. */
static bool replace(struct maps *s, uint64_t start, uint64_t end, const struct map *put, bool *changed)
{
	bool ok = true, other = differs(s->root, start, end, put);
	struct map_node *left, *right, *root;

	if (!put && !other)
		return true;
	left = head(s->root, start, &ok);
	right = tail(s->root, end, &ok);
	root = put ? join(left, put, right, &ok) : join_two(left, right, &ok);
	if (!ok) {
		drop(root);
		return false;
	}
	drop(s->root);
	s->root = root;
	*changed |= other;
	return true;
}

bool maps_add(struct maps *s, const struct map *m, bool *changed)
{
	return m->start >= m->end || replace(s, m->start, m->end, m, changed);
}

bool maps_remove(struct maps *s, uint64_t start, uint64_t end, bool *changed)
{
	return start >= end || replace(s, start, end, NULL, changed);
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
	return count(s->root);
}

void maps_copy(struct maps *s, const struct maps *from)
{
	s->root = share(from->root);
}

void maps_release(struct maps *s)
{
	drop(s->root);
	s->root = NULL;
}
