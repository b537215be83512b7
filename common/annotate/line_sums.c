#include "common/annotate/line_sums.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/profile/sanitize.h"

/* Keys have no padding: they are compared as bytes. */
struct function_key {
	uint32_t name, module;
};

struct line_key {
	uint32_t function, file, line;
};

/* One level of a location before it has its numbers. */
struct level_names {
	uint32_t name, file, line;
};

enum { LEVELS_MOST = 1 << 12 };

static bool add_text(struct line_sums *l, struct slice s, uint32_t *text)
{
	buf_clear(&l->text);
	sanitize_append(&l->text, s);
	return !l->text.failed && traces_text(l->traces, buf_view(&l->text), text);
}

static bool is_script(const struct traces_mapping *m)
{
	return !m->kernel && m->limit == 0 && m->path;
}

/* Sets *id to the number of the function. */
static bool find_function(struct line_sums *l, const struct level_names *level, uint32_t mapping,
			  uint32_t *id)
{
	const struct traces_mapping *m = &l->traces->mappings[mapping];
	bool script = mapping && is_script(m);
	struct function_key key = { level->name, script ? level->file : mapping ? m->path : 0 };

	if (!intern_add(&l->function_keys, (struct slice){ (const uint8_t *)&key, sizeof(key) }, id) ||
	    !grow_array(&l->functions, &l->cap_functions, *id, sizeof(*l->functions)))
		return false;
	if (*id == l->n)
		l->functions[l->n++] = (struct function_sum){ .name = key.name,
							      .module = key.module,
							      .script = script,
							      .kernel = mapping && m->kernel,
							      .mapping = mapping };
	return true;
}

static bool find_line(struct line_sums *l, uint32_t function, const struct level_names *level, uint32_t *id)
{
	struct line_key key = { function, level->file, level->line };

	if (!intern_add(&l->line_keys, (struct slice){ (const uint8_t *)&key, sizeof(key) }, id) ||
	    !grow_array(&l->lines, &l->cap_lines, *id, sizeof(*l->lines)))
		return false;
	if (*id == l->n_lines)
		l->lines[l->n_lines++] =
			(struct line_sum){ .function = function, .file = key.file, .line = key.line };
	return true;
}

/* Notes who names a source. A better one replaces the one before. */
static bool note_origin(struct line_sums *l, uint32_t file, const struct source_origin *from)
{
	if (!file)
		return true;
	if (!grow_array(&l->origins, &l->cap_origins, file, sizeof(*l->origins)))
		return false;
	if (from->script || from->trust > l->origins[file].trust) {
		bool script = l->origins[file].script || from->script;

		if (from->trust > l->origins[file].trust)
			l->origins[file] = *from;
		l->origins[file].script = script;
	}
	return true;
}

/* Reads the levels of a location as the capture has them. */
static bool read_levels(struct line_sums *l, const struct traces_location *at, struct level_names *levels)
{
	const struct traces *s = l->traces;
	struct source_origin from = { .script = at->mapping && is_script(&s->mappings[at->mapping]) };

	for (uint32_t i = 0; i < at->n; i++) {
		const struct traces_line *line = &s->lines[at->line + i];
		const struct traces_function *f = &s->functions[line->function];

		levels[i] = (struct level_names){ f->name, f->file, line->line };
		if (!note_origin(l, f->file, &from))
			return false;
	}
	return true;
}

/* Replaces the name of a frame that the capture has none for. */
static bool name_level(struct line_sums *l, const struct code_place *place, struct level_names *level)
{
	struct slice now = traces_get(l->traces, level->name);
	struct module_name name;
	int found;

	if (now.n && now.p[0] != '[')
		return true;
	found = line_files_name(l->files, place, &name);
	return found == 0 ||
	       (found > 0 &&
		add_text(l, intern_get(modules_texts(l->files->modules), name.text), &level->name));
}

/* Takes lines and inlined functions from the file here, which may have more levels than the capture. */
static bool take_levels(struct line_sums *l, const struct code_place *place, const struct level *from,
			uint32_t n, struct level_names *levels)
{
	struct intern *texts = modules_texts(l->files->modules);
	struct source_origin origin = { .mapping = place->mapping };

	origin.trust = line_files_origin(l->files, place->mapping).trust;
	for (uint32_t i = 0; i < n; i++) {
		levels[i].file = 0;
		levels[i].line = from[i].line;
		if ((i > 0 && !add_text(l, intern_get(texts, from[i].name), &levels[i].name)) ||
		    (from[i].file && !add_text(l, intern_get(texts, from[i].file), &levels[i].file)) ||
		    !note_origin(l, levels[i].file, &origin))
			return false;
	}
	return true;
}

/* Sets *n to the number of levels of a location, and fills levels, which has room for LEVELS_MOST. */
static bool resolve_levels(struct line_sums *l, uint32_t location, struct level_names *levels, uint32_t *n)
{
	struct traces_location at = l->traces->locations[location];
	const struct level *found;
	struct code_place place;
	long levels_here;

	at.n = at.n < LEVELS_MOST ? at.n : LEVELS_MOST;
	*n = at.n;
	if (!read_levels(l, &at, levels))
		return false;
	if (!line_files_place(l->files, l->traces, location, &place))
		return true;
	if (!name_level(l, &place, &levels[0]))
		return false;
	levels_here = line_files_levels(l->files, &place, &found);
	if (levels_here <= 0)
		return levels_here == 0;
	*n = levels_here < LEVELS_MOST ? (uint32_t)levels_here : LEVELS_MOST;
	return take_levels(l, &place, found, *n, levels);
}

static bool add_level(struct line_sums *l, uint32_t location, const struct level_names *level)
{
	uint32_t mapping = l->traces->locations[location].mapping, function, line;

	if (!find_function(l, level, mapping, &function) || !find_line(l, function, level, &line) ||
	    !grow_array(&l->levels, &l->cap_levels, l->n_levels, sizeof(*l->levels)))
		return false;
	if (l->level_n[location]++ == 0)
		l->functions[function].location = location;
	l->levels[l->n_levels++] = line;
	return true;
}

static bool resolve_all(struct line_sums *l)
{
	struct level_names *levels = calloc(LEVELS_MOST, sizeof(*levels));
	bool good = levels;

	for (uint32_t i = 1; good && i < l->traces->n_locations; i++) {
		uint32_t n;

		good = resolve_levels(l, i, levels, &n) && l->n_levels < UINT32_MAX - LEVELS_MOST;
		l->level_first[i] = (uint32_t)l->n_levels;
		for (uint32_t k = 0; good && k < n; k++)
			good = add_level(l, i, &levels[k]);
	}
	free(levels);
	return good;
}

/* The sample that last counted for each line, function and location: each counts once. */
struct seen {
	uint32_t *lines, *functions, *locations;
};

static void count_once(uint32_t *seen, uint32_t sample, uint64_t *total, uint64_t weight)
{
	if (*seen != sample)
		*total += weight;
	*seen = sample;
}

/* Adds the sample whose number, from 1, is sample. */
static void add_sample(struct line_sums *l, const struct traces_sample *it, uint32_t sample, uint64_t weight,
		       struct seen *seen)
{
	const struct traces *s = l->traces;
	bool innermost = true;

	for (uint32_t node = it->node; node; node = s->nodes[node].parent) {
		uint32_t at = s->nodes[node].location;

		count_once(&seen->locations[at], sample, &l->location_total[at], weight);
		for (uint32_t i = l->level_n[at]; i-- > 0; innermost = false) {
			uint32_t line = l->levels[l->level_first[at] + i];
			struct function_sum *f = &l->functions[l->lines[line].function];

			l->lines[line].self += innermost ? weight : 0;
			f->self += innermost ? weight : 0;
			count_once(&seen->lines[line], sample, &l->lines[line].total, weight);
			count_once(&seen->functions[l->lines[line].function], sample, &f->total, weight);
		}
	}
}

/* Whether names match a filter; asked once for each. */
struct asked {
	uint8_t *by_function, *by_text; /* 0: not asked yet, 1: yes, 2: no */
};

static bool is_match(const struct line_sums *l, const struct line_filter *f, uint8_t *asked, uint32_t text)
{
	if (!*asked)
		*asked = f->matches((const char *)line_sums_text(l, text).p, f->context) ? 1 : 2;
	return *asked == 1;
}

static bool has_match(const struct line_sums *l, const struct line_filter *f, struct asked *asked,
		      const struct traces_sample *it)
{
	const struct traces *s = l->traces;
	uint32_t comm = s->owners[it->owner].comm;

	if (is_match(l, f, &asked->by_text[comm], comm))
		return true;
	for (uint32_t node = it->node; node; node = s->nodes[node].parent) {
		uint32_t at = s->nodes[node].location;

		for (uint32_t i = 0; i < l->level_n[at]; i++) {
			uint32_t function = l->lines[l->levels[l->level_first[at] + i]].function;

			if (is_match(l, f, &asked->by_function[function], l->functions[function].name))
				return true;
		}
	}
	return false;
}

/* Drops the samples that a filter leaves out. */
static bool filter_samples(struct line_sums *l, const struct line_filter *f)
{
	struct traces *s = l->traces;
	struct asked asked = { calloc(l->n + 1, 1), calloc(s->texts.n + 1, 1) };
	bool good = asked.by_function && asked.by_text;
	size_t n = 0;

	for (size_t i = 0; good && i < s->n_samples; i++) {
		if (has_match(l, f, &asked, &s->samples[i]) == f->with)
			s->samples[n++] = s->samples[i];
	}
	if (good)
		s->n_samples = n;
	free(asked.by_function);
	free(asked.by_text);
	return good;
}

static bool filter_all(struct line_sums *l, const struct line_options *o)
{
	bool good = true;

	for (size_t i = 0; good && i < LINE_FILTERS; i++)
		good = !o->filters[i].matches || filter_samples(l, &o->filters[i]);
	return good;
}

static bool sum_samples(struct line_sums *l, bool by_weight)
{
	const struct traces *s = l->traces;
	struct seen seen = { calloc(l->n_lines + 1, sizeof(uint32_t)), calloc(l->n + 1, sizeof(uint32_t)),
			     calloc(s->n_locations + 1, sizeof(uint32_t)) };
	bool good = seen.lines && seen.functions && seen.locations && s->n_samples < UINT32_MAX;

	for (size_t i = 0; good && i < s->n_samples; i++) {
		const struct traces_sample *it = &s->samples[i];
		uint64_t weight = by_weight ? it->weight : it->samples;

		l->sum += weight;
		add_sample(l, it, (uint32_t)i + 1, weight, &seen);
	}
	free(seen.lines);
	free(seen.functions);
	free(seen.locations);
	return good;
}

/* A line with its sort keys. */
struct line_rank {
	struct line_sum line;
	uint64_t file_weight;
	uint32_t id;
};

static int compare_lines(const void *x, const void *y)
{
	const struct line_rank *a = x, *b = y;

	if (a->line.function != b->line.function)
		return a->line.function < b->line.function ? -1 : 1;
	if (a->file_weight != b->file_weight)
		return a->file_weight > b->file_weight ? -1 : 1;
	if (a->line.file != b->line.file)
		return a->line.file < b->line.file ? -1 : 1;
	return a->line.line < b->line.line ? -1 : a->line.line > b->line.line;
}

/* Sets the weight of each line's file in its function: of lines that are known, in units above 0. */
static bool weigh_files(struct line_rank *ranks, size_t n)
{
	struct intern keys;
	uint64_t *weights = calloc(n + 1, sizeof(*weights));
	bool good = weights;
	uint32_t id;

	intern_init(&keys);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; good && i < n; i++) {
			struct line_key key = { ranks[i].line.function, ranks[i].line.file, 0 };

			good = intern_add(&keys, (struct slice){ (const uint8_t *)&key, sizeof(key) }, &id);
			if (good && round == 0)
				weights[id] += key.file ? ranks[i].line.total + 1 : 0;
			else if (good)
				ranks[i].file_weight = weights[id];
		}
	}
	intern_release(&keys);
	free(weights);
	return good;
}

/* Sorts the lines by function, and renumbers the levels. */
static bool sort_lines(struct line_sums *l)
{
	struct line_rank *ranks = calloc(l->n_lines + 1, sizeof(*ranks));
	uint32_t *now = calloc(l->n_lines + 1, sizeof(*now));
	bool good = ranks && now;

	for (size_t i = 0; good && i < l->n_lines; i++)
		ranks[i] = (struct line_rank){ l->lines[i], 0, (uint32_t)i };
	good = good && weigh_files(ranks, l->n_lines);
	if (good) {
		qsort(ranks, l->n_lines, sizeof(*ranks), compare_lines);
		for (size_t i = 0; i < l->n_lines; i++) {
			struct function_sum *f = &l->functions[ranks[i].line.function];

			l->lines[i] = ranks[i].line;
			now[ranks[i].id] = (uint32_t)i;
			f->first = f->n++ ? f->first : (uint32_t)i;
		}
		for (size_t i = 0; i < l->n_levels; i++)
			l->levels[i] = now[l->levels[i]];
	}
	free(ranks);
	free(now);
	return good;
}

struct function_rank {
	struct function_sum f;
	uint32_t id;
	struct slice name, module;
};

static int compare_functions(const void *x, const void *y)
{
	const struct function_rank *a = x, *b = y;
	int differ;

	if (a->f.self != b->f.self)
		return a->f.self > b->f.self ? -1 : 1;
	if (a->f.total != b->f.total)
		return a->f.total > b->f.total ? -1 : 1;
	differ = slice_compare(a->name, b->name);
	return differ ? differ : slice_compare(a->module, b->module);
}

static bool sort_functions(struct line_sums *l)
{
	struct function_rank *ranks = calloc(l->n + 1, sizeof(*ranks));
	uint32_t *now = calloc(l->n + 1, sizeof(*now));
	bool good = ranks && now;

	for (size_t i = 0; good && i < l->n; i++)
		ranks[i] = (struct function_rank){ l->functions[i], (uint32_t)i,
						   line_sums_text(l, l->functions[i].name),
						   line_sums_text(l, l->functions[i].module) };
	if (good) {
		qsort(ranks, l->n, sizeof(*ranks), compare_functions);
		for (size_t i = 0; i < l->n; i++) {
			l->functions[i] = ranks[i].f;
			now[ranks[i].id] = (uint32_t)i;
		}
		for (size_t i = 0; i < l->n_lines; i++)
			l->lines[i].function = now[l->lines[i].function];
	}
	free(ranks);
	free(now);
	return good;
}

bool line_sums_init(struct line_sums *l, struct traces *s, struct line_files *files,
		    const struct line_options *o)
{
	*l = (struct line_sums){ .traces = s, .files = files, .by_weight = o->by_weight };
	intern_init(&l->function_keys);
	intern_init(&l->line_keys);
	l->location_total = calloc(s->n_locations, sizeof(*l->location_total));
	l->level_first = calloc(s->n_locations, sizeof(*l->level_first));
	l->level_n = calloc(s->n_locations, sizeof(*l->level_n));
	return l->location_total && l->level_first && l->level_n && resolve_all(l) && filter_all(l, o) &&
	       sum_samples(l, o->by_weight) && sort_lines(l) && sort_functions(l);
}

void line_sums_release(struct line_sums *l)
{
	intern_release(&l->function_keys);
	intern_release(&l->line_keys);
	buf_release(&l->text);
	free(l->functions);
	free(l->lines);
	free(l->origins);
	free(l->location_total);
	free(l->level_first);
	free(l->level_n);
	free(l->levels);
	*l = (struct line_sums){ 0 };
}

bool line_sums_has_lines(const struct line_sums *l, size_t i)
{
	const struct function_sum *f = &l->functions[i];

	for (uint32_t k = 0; k < f->n; k++) {
		if (l->lines[f->first + k].file && l->lines[f->first + k].line)
			return true;
	}
	return false;
}

bool line_sums_is_of(const struct line_sums *l, uint32_t location, size_t i)
{
	for (uint32_t k = 0; k < l->level_n[location]; k++) {
		if (l->lines[l->levels[l->level_first[location] + k]].function == i)
			return true;
	}
	return false;
}

struct source_origin line_sums_origin(const struct line_sums *l, uint32_t file)
{
	return file < l->cap_origins ? l->origins[file] : (struct source_origin){ 0 };
}
