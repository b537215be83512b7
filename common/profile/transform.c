#include "common/profile/transform.h"

#include <stdlib.h>

#include "common/base/intern.h"
#include "common/profile/strip_numbers.h"

bool transform_asked(const struct transform *s)
{
	return s->norm || s->match || s->focus || s->exclude || s->base || s->by.asked || s->collapse ||
	       s->reverse || s->min;
}

/*
 * Each step makes a new tree and maps every node of the old one to the node that gets its own weight:
 * map[node], 0 for weight that is left out. The labels move over, so both trees number them alike.
 */
struct step {
	const struct transform *s;
	struct profile *from, *to;
	uint32_t *map;
};

typedef bool make_step(struct step *st);

/* Returns the lengths of the stacks' texts by node, which decide whether a stack is too long. */
static size_t *text_lengths(const struct profile *p)
{
	size_t *bytes = calloc(p->n, sizeof(*bytes));

	for (size_t i = 1; bytes && i < p->n; i++) {
		const struct profile_node *node = &p->nodes[i];

		bytes[i] = bytes[node->parent] + (node->parent != 0) + profile_text(p, node->label).n;
	}
	return bytes;
}

static bool move_weights(const struct step *st)
{
	struct profile *from = st->from, *to = st->to;
	size_t *bytes = text_lengths(to);
	bool good = bytes;

	for (size_t i = 1; good && i < from->n; i++) {
		const uint64_t *self = from->nodes[i].self;
		uint32_t at = st->map[i];

		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			if (at && self[side])
				good = good && profile_add_at(to, at, bytes[at], side, self[side]);
			else
				to->claimed[side] -= self[side];
		}
	}
	free(bytes);
	return good;
}

/* Renumbers the moments in place. */
static void move_moments(const struct step *st)
{
	struct profile *from = st->from, *to = st->to;

	to->moments = from->moments;
	to->cap_moments = from->cap_moments;
	for (size_t i = 0; i < from->n_moments; i++) {
		struct profile_moment m = from->moments[i];

		m.node = st->map[m.node];
		if (m.node)
			to->moments[to->n_moments++] = m;
	}
	from->moments = NULL;
	from->n_moments = from->cap_moments = 0;
}

/* Replaces the profile by the result of the step. */
static bool take_step(const struct transform *s, struct profile *p, make_step *make)
{
	struct profile to;
	struct step st = { s, p, &to, calloc(p->n, sizeof(*st.map)) };
	bool good = profile_init(&to) && st.map;

	intern_release(&to.labels);
	to.labels = p->labels;
	intern_init(&p->labels);
	to.stack_max = p->stack_max;
	to.runs = p->runs;
	memcpy(to.claimed, p->claimed, sizeof(to.claimed));
	good = good && make(&st) && move_weights(&st);
	if (good)
		move_moments(&st);
	free(st.map);
	profile_release(p);
	*p = to;
	return good;
}

/* Flags of a stack, collected up to a node of it. */
enum { HAS_MATCH = 1, HAS_FOCUS = 2, HAS_EXCLUDED = 4, HAS_BASE = 8, LOOKED_AT = 16 };

/* By label: the current name, and the expressions that match it. */
struct name {
	uint32_t label;
	uint8_t has;
};

static uint8_t match_name(const struct transform *s, const char *text)
{
	const struct {
		const regex_t *expression;
		uint8_t has;
	} questions[] = {
		{ s->match, HAS_MATCH },
		{ s->focus, HAS_FOCUS },
		{ s->exclude, HAS_EXCLUDED },
		{ s->base, HAS_BASE },
	};
	uint8_t has = LOOKED_AT;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (questions[i].expression && regexec(questions[i].expression, text, 0, NULL, 0) == 0)
			has |= questions[i].has;
	}
	return has;
}

/* Sets *name to the label without unstable numbers in its first part. */
static bool strip_label(struct profile *to, uint32_t label, struct buf *text, uint32_t *name)
{
	struct slice all = profile_text(to, label), first = projection_part(all, 0);

	buf_clear(text);
	strip_numbers_append(text, first);
	buf_bytes(text, all.p + first.n, all.n - first.n);
	return !text->failed && profile_label(to, buf_view(text), name);
}

/* Finds the expressions that match the first part of the name. */
static bool match_label(const struct transform *s, struct profile *to, struct buf *text, struct name *name)
{
	struct slice all = profile_text(to, name->label), first = projection_part(all, 0);

	if (first.n < all.n) {
		buf_clear(text);
		buf_bytes(text, first.p, first.n);
	}
	name->has = match_name(s, first.n < all.n ? buf_cstr(text) : (const char *)all.p);
	return first.n == all.n || !text->failed;
}

/* Tests only labels that frames have: a profile knows more labels than it shows. */
static struct name *match_names(const struct step *st)
{
	struct profile *to = st->to;
	struct name *names = calloc(to->labels.n, sizeof(*names));
	struct buf text = { 0 };
	bool good = names;

	for (size_t i = 1; good && i < st->from->n; i++) {
		uint32_t label = st->from->nodes[i].label;
		struct name *name = &names[label];

		if (name->has)
			continue;
		name->label = label;
		if (st->s->norm)
			good = strip_label(to, label, &text, &name->label);
		good = good && match_label(st->s, to, &text, name);
	}
	buf_release(&text);
	if (!good) {
		free(names);
		return NULL;
	}
	return names;
}

static bool has_weight(const struct profile_node *node)
{
	return node->self[0] || node->self[1];
}

/* Sets, by node, the flags of its stack, and in live whether weight that counts is here or below. */
static void match_stacks(const struct step *st, const struct name *names, const uint32_t *depth,
			 uint8_t *has, bool *live)
{
	const struct profile *from = st->from;
	const struct transform *s = st->s;
	uint8_t wanted = (uint8_t)((s->match ? HAS_MATCH : 0) | (s->focus ? HAS_FOCUS : 0) | (s->base ? HAS_BASE : 0));

	/* Parents come before their children: one pass carries flags down all branches, another live up. */
	for (size_t i = 1; i < from->n; i++) {
		const struct profile_node *node = &from->nodes[i];

		has[i] = depth[i] > s->by.roots ? has[node->parent] | names[node->label].has : 0;
		live[i] = has_weight(node) && (has[i] & (wanted | HAS_EXCLUDED)) == wanted;
		st->map[i] = live[i];
	}
	for (size_t i = from->n - 1; i > 0; i--)
		live[from->nodes[i].parent] |= live[i];
}

/*
 * Builds the tree of the stacks that are left, with their new names. map is 1 if a node's own weight counts.
 */
static bool grow_chosen(struct step *st, const struct name *names, const uint32_t *depth, const uint8_t *has,
			const bool *live, uint32_t *at)
{
	for (size_t i = 1; i < st->from->n; i++) {
		const struct profile_node *node = &st->from->nodes[i];
		bool root = depth[i] <= st->s->by.roots;
		uint32_t label = root ? node->label : names[node->label].label, parent = at[node->parent];

		if (!live[i])
			continue;
		if (st->s->base && !root && !(has[i] & HAS_BASE)) {
			at[i] = parent;
			continue;
		}
		if (st->s->collapse && !st->s->by.asked && parent && st->to->nodes[parent].label == label)
			at[i] = parent;
		else if (!profile_child(st->to, parent, label, &at[i]))
			return false;
		st->map[i] = st->map[i] ? at[i] : 0;
	}
	return true;
}

static bool choose(struct step *st)
{
	struct name *names = match_names(st);
	size_t n = st->from->n;
	uint32_t *at = calloc(n, sizeof(*at));
	uint8_t *has = calloc(n, sizeof(*has));
	bool *live = calloc(n, sizeof(*live));
	uint32_t *depth = calloc(n, sizeof(*depth));
	bool good = names && at && has && live && depth;

	for (size_t i = 1; good && i < n; i++)
		depth[i] = depth[st->from->nodes[i].parent] + 1;
	if (good) {
		match_stacks(st, names, depth, has, live);
		good = grow_chosen(st, names, depth, has, live, at);
	}
	free(depth);
	free(names);
	free(at);
	free(has);
	free(live);
	return good;
}

static bool project(struct step *st)
{
	struct projection by = st->s->by;

	by.cut = st->s->base != NULL;
	st->to->stack_max = by.stack_max;
	return projection_apply(&by, st->from, st->to, st->map, st->s->collapse);
}

/* Puts the outermost frames that are keys where they were. left: how many. */
static bool keep_roots(struct step *st, uint32_t node, size_t left, uint32_t *to)
{
	const struct profile_node *nodes = st->from->nodes;
	uint32_t depth = 0;

	for (uint32_t at = node; at; at = nodes[at].parent)
		depth++;
	*to = 0;
	for (size_t i = 0; i < left && i < depth; i++) {
		uint32_t at = node;

		for (size_t up = depth - 1; up > i; up--)
			at = nodes[at].parent;
		if (!profile_child(st->to, *to, nodes[at].label, to))
			return false;
	}
	return true;
}

static bool reverse(struct step *st)
{
	const struct profile_node *nodes = st->from->nodes;
	size_t kept = st->s->by.asked ? projection_outermost(&st->s->by) : 0;

	for (size_t i = 1; i < st->from->n; i++) {
		size_t depth = 0;

		if (!has_weight(&nodes[i]))
			continue;
		for (uint32_t at = (uint32_t)i; kept && at; at = nodes[at].parent)
			depth++;
		if (!keep_roots(st, (uint32_t)i, kept, &st->map[i]))
			return false;
		for (uint32_t at = (uint32_t)i; at && (!kept || depth-- > kept); at = nodes[at].parent) {
			if (!profile_child(st->to, st->map[i], nodes[at].label, &st->map[i]))
				return false;
		}
	}
	return true;
}

static bool is_small(const struct transform *s, const struct profile *p, const uint64_t *weight)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		unsigned __int128 share = (unsigned __int128)weight[side] * 100 * TRANSFORM_PERCENT;

		if (p->total[side] && share >= (unsigned __int128)p->total[side] * s->min)
			return false;
	}
	return true;
}

static bool thin(struct step *st)
{
	const struct profile *from = st->from;
	profile_weight *below = profile_below(from);
	bool *gone = calloc(from->n, sizeof(*gone));
	uint32_t other;
	bool good = below && gone && profile_label(st->to, slice_of(TRANSFORM_OTHER), &other);

	for (size_t i = 1; good && i < from->n; i++) {
		const struct profile_node *node = &from->nodes[i];

		gone[i] = gone[node->parent] || is_small(st->s, from, below[i]);
		if (gone[node->parent])
			st->map[i] = st->map[node->parent];
		else if (below[i][0] || below[i][1])
			good = profile_child(st->to, st->map[node->parent], gone[i] ? other : node->label, &st->map[i]);
	}
	free(below);
	free(gone);
	return good;
}

static bool join(struct step *st)
{
	const struct transform *s = st->s;

	for (size_t i = 1; i < st->from->n; i++) {
		const struct profile_node *node = &st->from->nodes[i];
		bool joins = !node->parent && (node->label == s->join[0] || node->label == s->join[1]);

		if (!profile_child(st->to, st->map[node->parent], joins ? s->joined : node->label,
				   &st->map[i]))
			return false;
	}
	return true;
}

bool transform_apply(const struct transform *s, struct profile *p)
{
	struct transform first = *s;

	first.reverse = false;
	first.min = 0;
	first.by.asked = false;
	first.collapse = s->collapse && !s->by.asked;
	return (!s->joins || take_step(s, p, join)) && (!transform_asked(&first) || take_step(s, p, choose)) &&
	       (!s->by.asked || take_step(s, p, project)) && (!s->reverse || take_step(s, p, reverse)) &&
	       (!s->min || take_step(s, p, thin));
}
