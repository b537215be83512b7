#include "common/export/traces.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/profile/strip_numbers.h"

bool traces_init(struct traces *s)
{
	uint32_t none;

	*s = (struct traces){ 0 };
	intern_init(&s->texts);
	intern_init(&s->function_keys);
	intern_init(&s->mapping_keys);
	intern_init(&s->location_keys);
	intern_init(&s->owner_keys);
	intern_init(&s->label_keys);
	idmap_init(&s->edges);
	idmap_init(&s->by_key);
	s->n_functions = s->n_mappings = s->n_locations = s->n_nodes = s->n_owners = 1;
	return profile_init(&s->names) && intern_add(&s->texts, slice_of(""), &none) &&
	       grow_array(&s->functions, &s->cap_functions, 0, sizeof(*s->functions)) &&
	       grow_array(&s->mappings, &s->cap_mappings, 0, sizeof(*s->mappings)) &&
	       grow_array(&s->locations, &s->cap_locations, 0, sizeof(*s->locations)) &&
	       grow_array(&s->nodes, &s->cap_nodes, 0, sizeof(*s->nodes)) &&
	       grow_array(&s->owners, &s->cap_owners, 0, sizeof(*s->owners));
}

void traces_release(struct traces *s)
{
	profile_release(&s->names);
	intern_release(&s->texts);
	intern_release(&s->function_keys);
	intern_release(&s->mapping_keys);
	intern_release(&s->location_keys);
	intern_release(&s->owner_keys);
	intern_release(&s->label_keys);
	idmap_release(&s->edges);
	idmap_release(&s->by_key);
	buf_release(&s->key);
	free(s->functions);
	free(s->mappings);
	free(s->locations);
	free(s->lines);
	free(s->nodes);
	free(s->owners);
	free(s->samples);
	free(s->moments);
	*s = (struct traces){ 0 };
}

bool traces_text(struct traces *s, struct slice text, uint32_t *id)
{
	return intern_add(&s->texts, text, id);
}

/* Sets *id to the number of the key, from 1, and *fresh if it is new. */
static bool number_key(struct intern *keys, struct slice key, size_t n, uint32_t *id, bool *fresh)
{
	if (!intern_add(keys, key, id))
		return false;
	*id += 1;
	*fresh = *id == n;
	return true;
}

bool traces_function(struct traces *s, uint32_t label, uint32_t file, uint32_t *id)
{
	struct traces_function f = { .name = label, .file = file };
	bool fresh;

	if (!number_key(&s->function_keys, (struct slice){ (const uint8_t *)&f, sizeof(f) }, s->n_functions, id,
			&fresh) ||
	    !grow_array(&s->functions, &s->cap_functions, *id, sizeof(f)))
		return false;
	if (fresh)
		s->functions[s->n_functions++] = f;
	return true;
}

bool traces_mapping(struct traces *s, const struct traces_mapping *mapping, uint32_t *id)
{
	struct slice key = { (const uint8_t *)mapping, sizeof(*mapping) };
	bool fresh;

	if (!number_key(&s->mapping_keys, key, s->n_mappings, id, &fresh) ||
	    !grow_array(&s->mappings, &s->cap_mappings, *id, sizeof(*mapping)))
		return false;
	if (fresh)
		s->mappings[s->n_mappings++] = *mapping;
	return true;
}

static bool new_location(struct traces *s, uint64_t address, uint32_t mapping, const struct traces_line *lines,
			 uint32_t n)
{
	struct traces_location l = { .address = address, .mapping = mapping, .line = (uint32_t)s->n_lines, .n = n };

	if (s->n_lines + n >= UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!grow_array(&s->lines, &s->cap_lines, s->n_lines, sizeof(*s->lines)))
			return false;
		s->lines[s->n_lines++] = lines[i];
	}
	s->locations[s->n_locations++] = l;
	return true;
}

bool traces_location(struct traces *s, uint64_t address, uint32_t mapping, const struct traces_line *lines, uint32_t n,
		     uint32_t *id)
{
	bool fresh;

	buf_clear(&s->key);
	buf_bytes(&s->key, &address, sizeof(address));
	buf_bytes(&s->key, &mapping, sizeof(mapping));
	buf_bytes(&s->key, lines, n * sizeof(*lines));
	if (s->key.failed || !number_key(&s->location_keys, buf_view(&s->key), s->n_locations, id, &fresh) ||
	    !grow_array(&s->locations, &s->cap_locations, *id, sizeof(*s->locations)))
		return false;
	return !fresh || new_location(s, address, mapping, lines, n);
}

bool traces_owner(struct traces *s, const struct traces_owner *owner, uint32_t *id)
{
	struct slice key = { (const uint8_t *)owner, sizeof(*owner) };
	bool fresh;

	if (!number_key(&s->owner_keys, key, s->n_owners, id, &fresh) ||
	    !grow_array(&s->owners, &s->cap_owners, *id, sizeof(*owner)))
		return false;
	if (fresh)
		s->owners[s->n_owners++] = *owner;
	return true;
}

bool traces_labels(struct traces *s, const struct traces_label *labels, size_t n, uint32_t *id)
{
	*id = 0;
	if (!n)
		return true;
	if (!intern_add(&s->label_keys, (struct slice){ (const uint8_t *)labels, n * sizeof(*labels) }, id))
		return false;
	*id += 1;
	return true;
}

size_t traces_label_count(const struct traces *s, uint32_t labels)
{
	return labels ? intern_get(&s->label_keys, labels - 1).n / sizeof(struct traces_label) : 0;
}

struct traces_label traces_label(const struct traces *s, uint32_t labels, size_t i)
{
	struct traces_label l;

	memcpy(&l, intern_get(&s->label_keys, labels - 1).p + i * sizeof(l), sizeof(l)); /* it is unaligned */
	return l;
}

bool traces_append(struct traces *s, uint32_t parent, uint32_t location, uint32_t *node)
{
	if (s->n_nodes >= UINT32_MAX - 1 || !grow_array(&s->nodes, &s->cap_nodes, s->n_nodes, sizeof(*s->nodes)))
		return false;
	*node = (uint32_t)s->n_nodes;
	s->nodes[s->n_nodes++] = (struct traces_node){ parent, location };
	return true;
}

bool traces_child(struct traces *s, uint32_t parent, uint32_t location, uint32_t *node)
{
	uint64_t edge = (uint64_t)parent << 32 | location;

	return idmap_find(&s->edges, edge, node) ||
	       (traces_append(s, parent, location, node) && idmap_set(&s->edges, edge, *node));
}

bool traces_add(struct traces *s, uint32_t owner, uint32_t node, uint64_t samples, uint64_t weight)
{
	uint64_t key = (uint64_t)owner << 32 | node;
	uint32_t at;

	if (!idmap_find(&s->by_key, key, &at)) {
		at = (uint32_t)s->n_samples;
		if (!grow_array(&s->samples, &s->cap_samples, at, sizeof(*s->samples)) || !idmap_set(&s->by_key, key, at))
			return false;
		s->samples[s->n_samples++] = (struct traces_sample){ .owner = owner, .node = node };
	}
	s->samples[at].samples += samples;
	s->samples[at].weight += weight;
	s->total += samples;
	s->total_weight += weight;
	return true;
}

uint32_t traces_last_wait(const struct traces *s)
{
	uint32_t last = 0;

	for (size_t i = 0; i < s->n_samples; i++) {
		uint32_t wait = s->owners[s->samples[i].owner].wait;

		last = wait > last ? wait : last;
	}
	return last;
}

bool traces_add_moment(struct traces *s, const struct traces_moment *m)
{
	if (!grow_array(&s->moments, &s->cap_moments, s->n_moments, sizeof(*m)))
		return false;
	s->moments[s->n_moments++] = *m;
	return true;
}

/* Gives each function its name as a text, and finds the functions that are now the same. */
static bool name_functions(struct traces *s, const struct gather_modules *modules, bool norm)
{
	struct buf text = { 0 }, stable = { 0 };
	struct idmap seen;
	bool good = true;

	idmap_init(&seen);
	for (uint32_t i = 1; good && i < s->n_functions; i++) {
		struct traces_function *f = &s->functions[i];
		uint64_t key;

		buf_clear(&text);
		gather_modules_text(modules, profile_text(&s->names, f->name), &text);
		buf_clear(&stable);
		if (norm)
			strip_numbers_append(&stable, buf_view(&text));
		good = !text.failed && !stable.failed && traces_text(s, buf_view(norm ? &stable : &text), &f->name);
		key = (uint64_t)f->name << 32 | f->file;
		if (good && !idmap_find(&seen, key, &f->same)) {
			f->same = i;
			good = idmap_set(&seen, key, i);
		}
	}
	idmap_release(&seen);
	buf_release(&text);
	buf_release(&stable);
	return good;
}

/* Formats have no stack without frames: such a stack gets its command as frame. */
static bool dress_bare(struct traces *s)
{
	for (size_t i = 0; i < s->n_samples; i++) {
		struct traces_owner *o = &s->owners[s->samples[i].owner];
		struct traces_line line = { 0 };

		if (s->samples[i].node || o->bare)
			continue;
		if (!grow_array(&s->functions, &s->cap_functions, s->n_functions, sizeof(*s->functions)))
			return false;
		line.function = (uint32_t)s->n_functions;
		s->functions[s->n_functions++] = (struct traces_function){ .name = o->comm, .same = line.function };
		if (!traces_location(s, 0, 0, &line, 1, &o->bare))
			return false;
	}
	return true;
}

bool traces_settle(struct traces *s, struct gather_modules *modules, bool norm)
{
	struct profile none;
	bool good = profile_init(&none) && gather_modules_settle(modules, &none, 1, 0) &&
		    name_functions(s, modules, norm) && dress_bare(s);

	profile_release(&none);
	return good;
}

struct asking {
	uint8_t *text; /* by text: 0 not asked yet, 1 yes, 2 no */
	bool (*asked)(const char *name, void *context);
	void *context;
};

static bool is_asked(const struct traces *s, struct asking *k, uint32_t text)
{
	if (!k->text[text])
		k->text[text] = k->asked((const char *)traces_get(s, text).p, k->context) ? 1 : 2;
	return k->text[text] == 1;
}

static bool location_asked(const struct traces *s, struct asking *k, const struct traces_location *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (is_asked(s, k, s->functions[s->lines[l->line + i].function].name))
			return true;
	}
	return false;
}

/* Keeps the moments of the stacks that are kept. nodes: by node, whether it is asked for. */
static void keep_moments(struct traces *s, struct asking *k, const bool *nodes, bool with)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_moments; i++) {
		const struct traces_moment *m = &s->moments[i];

		if ((nodes[m->node] || is_asked(s, k, s->owners[m->owner].comm)) == with)
			s->moments[n++] = *m;
	}
	s->n_moments = n;
}

bool traces_keep(struct traces *s, bool (*asked)(const char *name, void *context), void *context, bool with)
{
	struct asking k = { calloc(s->texts.n, 1), asked, context };
	bool *nodes = calloc(s->n_nodes, sizeof(*nodes)), good = k.text && nodes;
	size_t n = 0;

	for (size_t i = 1; good && i < s->n_nodes; i++)
		nodes[i] = nodes[s->nodes[i].parent] || location_asked(s, &k, &s->locations[s->nodes[i].location]);
	for (size_t i = 0; good && i < s->n_samples; i++) {
		const struct traces_sample *it = &s->samples[i];

		if ((nodes[it->node] || is_asked(s, &k, s->owners[it->owner].comm)) == with) {
			s->samples[n++] = *it;
			continue;
		}
		s->total -= it->samples;
		s->total_weight -= it->weight;
	}
	if (good) {
		s->n_samples = n;
		keep_moments(s, &k, nodes, with);
	}
	free(k.text);
	free(nodes);
	return good;
}
