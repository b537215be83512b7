#include "common/profile/profile.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/profile/sanitize.h"

bool profile_init(struct profile *p)
{
	uint32_t label;

	*p = (struct profile){ 0 };
	intern_init(&p->labels);
	idmap_init(&p->wide);
	if (!intern_add(&p->labels, slice_of(SANITIZE_CUT), &label) ||
	    !grow_array(&p->nodes, &p->cap, 0, sizeof(*p->nodes)))
		return false;
	p->n = 1;
	return true;
}

void profile_release(struct profile *p)
{
	intern_release(&p->labels);
	idmap_release(&p->wide);
	free(p->moments);
	free(p->nodes);
	free(p->shortened);
	free(p->path);
	*p = (struct profile){ 0 };
}

bool profile_empty(struct profile *p)
{
	struct profile fresh;
	bool good = profile_init(&fresh);

	fresh.stack_max = p->stack_max;
	fresh.runs = p->runs;
	memcpy(fresh.claimed, p->claimed, sizeof(fresh.claimed));
	profile_release(p);
	*p = fresh;
	return good;
}

size_t profile_bytes(const struct profile *p)
{
	const struct intern *t = &p->labels;

	return p->cap * sizeof(*p->nodes) + t->bytes + t->cap * sizeof(*t->items) +
	       (t->mask + 1) * sizeof(*t->slots) +
	       (p->wide.mask + 1) * (sizeof(*p->wide.keys) + sizeof(*p->wide.values));
}

bool profile_label(struct profile *p, struct slice name, uint32_t *label)
{
	return intern_add(&p->labels, name, label);
}

bool profile_labels(struct profile *p, const struct slice *names, size_t n, uint32_t *labels)
{
	return intern_add_many(&p->labels, names, n, labels);
}

struct slice profile_text(const struct profile *p, uint32_t label)
{
	return intern_get(&p->labels, label);
}

bool profile_claim(struct profile *p, unsigned int side, uint64_t weight)
{
	uint64_t sum = p->claimed[side] + weight;

	if (sum < weight)
		return false;
	p->claimed[side] = sum;
	return true;
}

/*
 * Most nodes have few children, made right after them, so that a walk along the siblings stays in the
 * cache: on 100,000 stacks of 25 frames this is twice as fast as hashing every edge. Parents with
 * more than WALK children have them all in the hash table as well.
 */
enum { WALK = 8 };

static uint64_t edge_key(uint32_t parent, uint32_t label)
{
	return (uint64_t)parent << 32 | label;
}

static bool index_child(struct profile *p, uint32_t parent, uint32_t node, size_t siblings)
{
	uint32_t at = p->nodes[parent].first;

	if (siblings < WALK)
		return true;
	for (size_t i = 0; siblings == WALK && i < WALK; i++, at = p->nodes[at].next) {
		if (!idmap_set(&p->wide, edge_key(parent, p->nodes[at].label), at))
			return false;
	}
	return idmap_set(&p->wide, edge_key(parent, p->nodes[node].label), node);
}

/* Leaves the new part uncleared, unlike grow_array: clearing touches twice the memory that is needed. */
static bool grow_nodes(struct profile *p)
{
	size_t cap = p->cap * 2;
	struct profile_node *nodes;

	if (p->n >= UINT32_MAX - 1)
		return false;
	nodes = realloc(p->nodes, cap * sizeof(*nodes));
	if (!nodes)
		return false;
	p->nodes = nodes;
	p->cap = cap;
	return true;
}

bool profile_child(struct profile *p, uint32_t parent, uint32_t label, uint32_t *node)
{
	uint32_t at = p->nodes[parent].first;
	size_t siblings = 0;

	for (; at && siblings < WALK; siblings++, at = p->nodes[at].next) {
		if (p->nodes[at].label == label) {
			*node = at;
			return true;
		}
	}
	if (at) {
		siblings++;
		if (idmap_find(&p->wide, edge_key(parent, label), node))
			return true;
	}
	if (p->n == p->cap && !grow_nodes(p))
		return false;
	at = (uint32_t)p->n;
	p->nodes[at] = (struct profile_node){ .parent = parent, .label = label };
	if (!index_child(p, parent, at, siblings))
		return false;
	p->n++;
	p->nodes[at].next = p->nodes[parent].first;
	p->nodes[parent].first = at;
	*node = at;
	return true;
}

static void add_weight(struct profile *p, uint32_t node, unsigned int side, uint64_t weight)
{
	p->nodes[node].self[side] += weight;
	p->total[side] += weight;
}

static size_t text_length(const struct profile *p, const uint32_t *labels, size_t n)
{
	size_t bytes = n ? n - 1 : 0;

	for (size_t i = 0; i < n; i++)
		bytes += profile_text(p, labels[i]).n;
	return bytes;
}

/* Returns how many frames, from the front or from the back, fit into the given bytes with a `;` each. */
static size_t count_fitting(const struct profile *p, const uint32_t *labels, size_t n, bool back,
			    size_t bytes)
{
	size_t i = 0;

	while (i < n) {
		size_t need = profile_text(p, labels[back ? n - 1 - i : i]).n + 1;

		if (need > bytes)
			break;
		bytes -= need;
		i++;
	}
	return i;
}

/*
 * Leaves out frames in the middle: half of the room is for the outer frames, where stacks meet, half for
 * the inner ones, where the time goes. The result depends on the stack alone, so it is the same whichever
 * file the stack came from.
 */
static bool shorten_stack(struct profile *p, const uint32_t **labels, size_t *n)
{
	size_t half = (p->stack_max - strlen(SANITIZE_CUT)) / 2;
	size_t front = count_fitting(p, *labels, *n, false, half);
	size_t back = count_fitting(p, *labels, *n, true, half);

	if (!grow_array(&p->shortened, &p->cap_shortened, front + 1 + back, sizeof(*p->shortened)))
		return false;
	memcpy(p->shortened, *labels, front * sizeof(**labels));
	p->shortened[front] = 0;
	memcpy(p->shortened + front + 1, *labels + *n - back, back * sizeof(**labels));
	*labels = p->shortened;
	*n = front + 1 + back;
	return true;
}

bool profile_add(struct profile *p, const uint32_t *labels, size_t n, unsigned int side, uint64_t weight)
{
	uint32_t node = 0;

	if (p->stack_max && text_length(p, labels, n) > p->stack_max && !shorten_stack(p, &labels, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!profile_child(p, node, labels[i], &node))
			return false;
	}
	add_weight(p, node, side, weight);
	return true;
}

/* A stack that turned out too long is added again from its labels; the nodes stay, without weight. */
static bool add_again(struct profile *p, uint32_t node, unsigned int side, uint64_t weight)
{
	size_t n = 0, i;

	for (uint32_t at = node; at; at = p->nodes[at].parent)
		n++;
	if (!grow_array(&p->path, &p->cap_path, n, sizeof(*p->path)))
		return false;
	for (i = n; node; node = p->nodes[node].parent)
		p->path[--i] = p->nodes[node].label;
	return profile_add(p, p->path, n, side, weight);
}

bool profile_add_at(struct profile *p, uint32_t node, size_t bytes, unsigned int side, uint64_t weight)
{
	if (p->stack_max && bytes > p->stack_max)
		return add_again(p, node, side, weight);
	add_weight(p, node, side, weight);
	return true;
}

bool profile_mark(struct profile *p, const struct profile_moment *moment)
{
	if (!grow_array(&p->moments, &p->cap_moments, p->n_moments, sizeof(*p->moments)))
		return false;
	p->moments[p->n_moments++] = *moment;
	return true;
}

/* Runs of the other profile come after those that are here. */
static bool pour_moments(struct profile *p, const struct profile *from, const uint32_t *nodes)
{
	for (size_t i = 0; i < from->n_moments; i++) {
		struct profile_moment m = from->moments[i];

		m.node = nodes[m.node];
		m.run += p->runs;
		if (!profile_mark(p, &m))
			return false;
	}
	p->runs += from->runs;
	return true;
}

static bool pour_node(struct profile *p, const struct profile *from, size_t i, uint32_t label,
		      uint32_t *nodes, size_t *bytes)
{
	const struct profile_node *node = &from->nodes[i];

	bytes[i] = bytes[node->parent] + (node->parent != 0) + profile_text(p, label).n;
	if (!profile_child(p, nodes[node->parent], label, &nodes[i]))
		return false;
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		if (node->self[side] && !profile_add_at(p, nodes[i], bytes[i], side, node->self[side]))
			return false;
	}
	return true;
}

bool profile_pour(struct profile *p, const struct profile *from, const uint32_t *labels)
{
	uint32_t *nodes = calloc(from->n, sizeof(*nodes)), label;
	size_t *bytes = calloc(from->n, sizeof(*bytes));
	bool good = nodes && bytes;

	for (size_t i = 1; good && i < from->n; i++) {
		label = from->nodes[i].label;
		good = labels ? true : profile_label(p, profile_text(from, label), &label);
		good = good && pour_node(p, from, i, labels ? labels[label] : label, nodes, bytes);
	}
	good = good && pour_moments(p, from, nodes);
	free(nodes);
	free(bytes);
	return good;
}

void profile_walk(const struct profile *p, void (*enter)(void *context, uint32_t node),
		  void (*leave)(void *context, uint32_t node), void *context)
{
	uint32_t at = p->nodes[0].first;

	while (at) {
		enter(context, at);
		if (p->nodes[at].first) {
			at = p->nodes[at].first;
			continue;
		}
		leave(context, at);
		while (at && !p->nodes[at].next) {
			at = p->nodes[at].parent;
			if (at)
				leave(context, at);
		}
		at = p->nodes[at].next;
	}
}

profile_weight *profile_below(const struct profile *p)
{
	profile_weight *below = calloc(p->n, sizeof(*below));

	for (size_t i = p->n - 1; below && i > 0; i--) {
		for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
			below[i][side] += p->nodes[i].self[side];
			below[p->nodes[i].parent][side] += below[i][side];
		}
	}
	return below;
}
