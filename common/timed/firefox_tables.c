#include "common/timed/firefox_tables.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/export/thread_moments.h"

static bool push_row(uint32_t **rows, size_t *n, size_t *cap, uint32_t value)
{
	if (!grow_array(rows, cap, *n, sizeof(**rows)))
		return false;
	(*rows)[(*n)++] = value;
	return true;
}

/* Finds or adds the resource of a mapping, by its path; 0 without one. */
static bool find_resource(struct firefox_tables *t, uint32_t mapping, uint32_t *resource)
{
	uint32_t path = mapping ? t->s->mappings[mapping].path : 0, row;

	*resource = 0;
	if (!path)
		return true;
	if (!idmap_find(&t->by_path, path, &row)) {
		row = (uint32_t)t->n_resources;
		if (!push_row(&t->resources, &t->n_resources, &t->cap_resources, mapping) ||
		    !idmap_set(&t->by_path, path, row))
			return false;
	}
	*resource = row + 1;
	return true;
}

static bool find_source(struct firefox_tables *t, uint32_t file)
{
	uint32_t row;

	return !file || idmap_find(&t->by_file, file, &row) ||
	       (idmap_set(&t->by_file, file, (uint32_t)t->n_sources) &&
		push_row(&t->sources, &t->n_sources, &t->cap_sources, file));
}

static bool add_function(struct firefox_tables *t, struct firefox_function f, uint32_t *row)
{
	*row = (uint32_t)t->n_functions;
	if (!grow_array(&t->functions, &t->cap_functions, t->n_functions, sizeof(f)))
		return false;
	t->functions[t->n_functions++] = f;
	return find_source(t, f.file);
}

/* Finds or adds the row of a function in a resource: one name may be in several files. */
static bool find_function(struct firefox_tables *t, uint32_t function, uint32_t resource, uint32_t *row)
{
	const struct traces_function *f = &t->s->functions[function];
	uint64_t key = (uint64_t)f->same << 32 | resource;

	return idmap_find(&t->by_function, key, row) ||
	       (add_function(t, (struct firefox_function){ f->name, f->file, resource }, row) &&
		idmap_set(&t->by_function, key, *row));
}

static uint32_t category_of(const struct traces *s, const struct traces_location *l)
{
	const struct traces_mapping *m = &s->mappings[l->mapping];
	struct slice path = traces_get(s, m->path);

	if (!l->mapping)
		return FIREFOX_OTHER;
	if (m->kernel)
		return FIREFOX_KERNEL;
	if (slice_is(path, "[jit]") || (m->limit == 0 && path.n && path.p[0] == '['))
		return FIREFOX_LANGUAGE;
	return FIREFOX_USER;
}

static bool add_frame(struct firefox_tables *t, struct firefox_frame f)
{
	if (!grow_array(&t->frames, &t->cap_frames, t->n_frames, sizeof(f)))
		return false;
	t->frames[t->n_frames++] = f;
	return true;
}

/* Makes a frame of each line. Lines are those of the locations, one after the other. */
static bool add_frames(struct firefox_tables *t)
{
	const struct traces *s = t->s;

	for (size_t i = 1; i < s->n_locations; i++) {
		const struct traces_location *l = &s->locations[i];
		uint32_t resource;

		if (!find_resource(t, l->mapping, &resource))
			return false;
		for (uint32_t k = 0; k < l->n; k++) {
			const struct traces_line *line = &s->lines[l->line + k];
			struct firefox_frame f = { .line = line->line,
						   .depth = k,
						   .category = category_of(s, l) };

			if (!find_function(t, line->function, resource, &f.function) || !add_frame(t, f))
				return false;
		}
	}
	return true;
}

/* Makes the frames of waits, which come after all lines. */
static bool add_waits(struct firefox_tables *t)
{
	for (uint32_t i = 1; i < CAPTURE_WAITS; i++) {
		struct firefox_frame f = { .category = FIREFOX_WAITS + i - 1 };
		struct firefox_function function = { 0 };

		if (!traces_text(t->s, slice_of(thread_moments_frame(i)), &function.name) ||
		    !add_function(t, function, &f.function) || !add_frame(t, f))
			return false;
	}
	return true;
}

/* Adds a row below prefix; both are rows plus 1. */
static bool push_stack(struct firefox_tables *t, uint32_t frame, uint32_t *at)
{
	if (t->n_stacks >= UINT32_MAX - 1 ||
	    !grow_array(&t->stacks, &t->cap_stacks, t->n_stacks, sizeof(*t->stacks)))
		return false;
	t->stacks[t->n_stacks++] = (struct firefox_stack){ *at, frame };
	*at = (uint32_t)t->n_stacks;
	return true;
}

static bool push_location(struct firefox_tables *t, uint32_t location, uint32_t *at)
{
	const struct traces_location *l = &t->s->locations[location];

	for (uint32_t i = 0; i < l->n; i++) {
		if (!push_stack(t, l->line + i, at))
			return false;
	}
	return true;
}

static bool add_stacks(struct firefox_tables *t)
{
	const struct traces *s = t->s;

	t->by_node = calloc(s->n_nodes, sizeof(*t->by_node));
	for (size_t i = 1; t->by_node && i < s->n_nodes; i++) {
		t->by_node[i] = t->by_node[s->nodes[i].parent];
		if (!push_location(t, s->nodes[i].location, &t->by_node[i]))
			return false;
	}
	return t->by_node;
}

/* The key in ends of a stack that is more or other than its node, or 0. */
static uint64_t end_key(const struct traces *s, const struct traces_moment *m)
{
	const struct traces_owner *o = &s->owners[m->owner];
	uint64_t what = m->node ? m->node : 1ull << 32 | o->bare;

	return m->node && !o->wait ? 0 : what * CAPTURE_WAITS + o->wait;
}

static bool add_end(struct firefox_tables *t, const struct traces_moment *m)
{
	const struct traces_owner *o = &t->s->owners[m->owner];
	uint32_t at = m->node ? t->by_node[m->node] : 0, row;
	uint64_t key = end_key(t->s, m);

	if (!key || idmap_find(&t->ends, key, &row))
		return true;
	if (!m->node && !push_location(t, o->bare, &at))
		return false;
	if (o->wait && !push_stack(t, (uint32_t)t->s->n_lines + o->wait - 1, &at))
		return false;
	return idmap_set(&t->ends, key, at - 1);
}

uint32_t firefox_tables_stack(const struct firefox_tables *t, const struct traces_moment *m)
{
	uint64_t key = end_key(t->s, m);
	uint32_t row;

	return key && idmap_find(&t->ends, key, &row) ? row : t->by_node[m->node] - 1;
}

uint32_t firefox_tables_source(const struct firefox_tables *t, uint32_t file)
{
	uint32_t row = 0;

	idmap_find(&t->by_file, file, &row);
	return row;
}

bool firefox_tables_init(struct firefox_tables *t, struct traces *s)
{
	*t = (struct firefox_tables){ .s = s };
	idmap_init(&t->ends);
	idmap_init(&t->by_function);
	idmap_init(&t->by_path);
	idmap_init(&t->by_file);
	if (!add_frames(t) || !add_waits(t) || !add_stacks(t))
		return false;
	for (size_t i = 0; i < s->n_moments; i++) {
		if (!add_end(t, &s->moments[i]))
			return false;
	}
	return true;
}

void firefox_tables_release(struct firefox_tables *t)
{
	idmap_release(&t->ends);
	idmap_release(&t->by_function);
	idmap_release(&t->by_path);
	idmap_release(&t->by_file);
	free(t->stacks);
	free(t->frames);
	free(t->functions);
	free(t->resources);
	free(t->sources);
	free(t->by_node);
	*t = (struct firefox_tables){ 0 };
}
