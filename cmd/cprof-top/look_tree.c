#include "cmd/cprof-top/look_tree.h"

#include <stdlib.h>

#include "cmd/shared/cli.h"
#include "common/base/array.h"
#include "common/profile/projection.h"

/* Returns the child with this label, or 0. */
static uint32_t find_child(const struct profile *p, uint32_t node, struct slice name)
{
	uint32_t at = p->nodes[node].first;

	while (at && !slice_equal(profile_text(p, p->nodes[at].label), name))
		at = p->nodes[at].next;
	return at;
}

/* Returns the node of a path, or 0 if the profile does not have it. */
static uint32_t find_path(const struct profile *p, const char *path)
{
	uint32_t at = 0;

	for (const char *end; (end = strchr(path, '\n')); path = end + 1) {
		at = find_child(p, at, (struct slice){ (const uint8_t *)path, (size_t)(end - path) });
		if (!at)
			return 0;
	}
	return at;
}

/* Returns which labels the search matches by their functions, or processes and the like; all without one. */
static bool *match_labels(const struct look *l, const struct profile *p)
{
	bool *hits = calloc(p->labels.n, sizeof(*hits));
	struct buf text = { 0 };

	for (uint32_t i = 0; hits && i < p->labels.n; i++) {
		struct slice name = projection_part(profile_text(p, i), 0);

		buf_clear(&text);
		buf_bytes(&text, name.p, name.n);
		hits[i] = !l->searches || regexec(&l->search, buf_cstr(&text), 0, NULL, 0) == 0;
	}
	if (text.failed)
		cli_no_memory();
	buf_release(&text);
	return hits;
}

/*
 * Marks stacks in the subtree of top, or all if it is the root, that have a frame among the hits. ends: nodes
 * whose own weight counts; within: these with weight, and the nodes above them.
 */
static void mark_stacks(const struct profile *p, uint32_t top, const bool *hits, bool *ends, bool *within)
{
	for (uint32_t i = 1; i < p->n; i++) {
		uint32_t parent = p->nodes[i].parent;

		within[i] = !top || i == top || (parent && within[parent]);
		ends[i] = within[i] && (hits[p->nodes[i].label] || ends[parent]);
	}
	for (size_t i = p->n; i-- > 1;) {
		uint32_t below = p->nodes[i].first;

		if (!within[i])
			continue;
		within[i] = ends[i] && p->nodes[i].self[0];
		for (; below && !within[i]; below = p->nodes[below].next)
			within[i] = within[below];
	}
}

static bool copy_stacks(const struct profile *from, uint32_t top, const bool *hits, struct profile *to)
{
	uint32_t *at = calloc(from->n, sizeof(*at)), label;
	bool *ends = calloc(from->n, sizeof(*ends)), *within = calloc(from->n, sizeof(*within));
	bool good = profile_init(to) && at && ends && within && hits;

	if (good)
		mark_stacks(from, top, hits, ends, within);
	for (uint32_t i = 1; good && i < from->n; i++) {
		const struct profile_node *node = &from->nodes[i];

		if (!within[i])
			continue;
		good = profile_label(to, profile_text(from, node->label), &label) &&
		       profile_child(to, at[node->parent], label, &at[i]);
		if (good && ends[i])
			good = profile_claim(to, 0, node->self[0]) &&
			       profile_add_at(to, at[i], 0, 0, node->self[0]);
	}
	free(at);
	free(ends);
	free(within);
	return good;
}

bool look_tree_cut(const struct look *l, struct profile *seen)
{
	const char *path = l->n_steps ? l->steps[l->n_steps - 1].path : NULL;
	uint32_t top = path ? find_path(seen, path) : 0;
	struct profile cut;
	bool *hits, good;

	if (!path && !l->searches)
		return true;
	hits = match_labels(l, seen);
	if (path && !top) /* this window does not have it */
		good = profile_init(&cut);
	else
		good = copy_stacks(seen, top, hits, &cut);
	free(hits);
	profile_release(seen);
	*seen = cut;
	return good;
}

static void append_path(const struct profile *p, uint32_t node, struct buf *out)
{
	uint32_t *way = NULL;
	size_t n = 0, cap = 0;

	for (; node; node = p->nodes[node].parent) {
		if (!grow_array(&way, &cap, n, sizeof(*way)))
			cli_no_memory();
		way[n++] = node;
	}
	while (n) {
		struct slice name = profile_text(p, p->nodes[way[--n]].label);

		buf_bytes(out, name.p, name.n);
		buf_byte(out, '\n');
	}
	free(way);
}

void look_tree_path(const struct look *l, const struct profile *seen, size_t row, struct buf *out)
{
	if (row < l->rows.n && l->rows.labels[row])
		append_path(seen, l->rows.labels[row], out);
}

/* Appends the path without its last frame. */
static void append_callers(const char *path, struct buf *out)
{
	size_t n = strlen(path) - 1;

	while (n > 0 && path[n - 1] != '\n')
		n--;
	buf_bytes(out, path, n);
}

bool look_tree_step(const struct look *l, const struct profile *seen, struct look_step *step)
{
	const char *before = l->n_steps ? l->steps[l->n_steps - 1].path : NULL;
	size_t row = l->row < l->rows.n ? l->row : 0;
	uint32_t node = row < l->rows.n ? l->rows.labels[row] : 0;
	struct buf path = { 0 };
	struct slice name;

	if (!node || l->n_steps == LOOK_STEPS || (before && !seen->nodes[node].parent))
		return false;
	if (before)
		append_callers(before, &path);
	append_path(seen, node, &path);
	name = projection_part(profile_text(seen, seen->nodes[node].label), 0);
	*step = (struct look_step){ -1, BY_FUNCTION, strndup((const char *)name.p, name.n), l->choice, row,
				    NULL };
	step->path = path.failed ? NULL : strdup(buf_cstr(&path));
	buf_release(&path);
	if (!step->name || !step->path)
		cli_no_memory();
	return true;
}
