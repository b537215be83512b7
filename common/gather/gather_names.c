#include "common/gather/gather_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/profile/sanitize.h"

bool gather_names_init(struct gather_names *t, struct capture *c, struct profile *p, unsigned int parts)
{
	*t = (struct gather_names){ .c = c, .p = p, .parts = parts, .n_runs = 1 };
	idmap_init(&t->by_epoch);
	intern_init(&t->meanings);
	idmap_init(&t->epochs);
	t->by_frame = calloc(c->n_frames + 1, sizeof(*t->by_frame));
	return t->by_frame && timeline_places(&t->places, c) && timeline_symbols(&t->symbols, c);
}

void gather_names_release(struct gather_names *t)
{
	timeline_release(&t->places);
	timeline_release(&t->symbols);
	free(t->runs);
	free(t->by_frame);
	idmap_release(&t->by_epoch);
	intern_release(&t->meanings);
	free(t->by_meaning);
	idmap_release(&t->epochs);
	buf_release(&t->text);
	buf_release(&t->line);
	buf_release(&t->place);
}

static bool run_push(struct gather_names *t, uint32_t v)
{
	if (!grow_array(&t->runs, &t->cap_runs, t->n_runs, sizeof(*t->runs)))
		return false;
	t->runs[t->n_runs++] = v;
	return true;
}

/* Appends the text that is in t->text, as a label, to the run. */
static bool push_text(struct gather_names *t)
{
	uint32_t label;

	return !t->text.failed && profile_label(t->p, buf_view(&t->text), &label) && run_push(t, label);
}

/* Appends a name and cleans it; the suffix needs no cleaning. */
static bool push_name(struct gather_names *t, struct slice name, const char *suffix)
{
	buf_clear(&t->text);
	sanitize_append(&t->text, name);
	if (t->annotated)
		buf_text(&t->text, suffix);
	return push_text(t);
}

/* Returns whether it is a page of code that the kernel maps, "[vdso+0x8a0]": its offsets are meaningful. */
static bool is_kernel_page(struct slice path)
{
	return slice_is(path, "[vdso]") || slice_is(path, "[vsyscall]");
}

/* "/memfd:name (deleted)": a program's own file in memory, for code that it unpacked for example. */
static bool is_memfd(struct slice path)
{
	size_t n = strlen("/memfd:");

	return path.n >= n && memcmp(path.p, "/memfd:", n) == 0;
}

/* Returns the name of a place without a symbol: the file, or the kind of memory. */
static struct slice place_file(const struct gather_names *t, const struct capture_frame *f,
			       const struct capture_place *place, bool *offset)
{
	struct slice path = { NULL, 0 };

	*offset = false;
	if (!place || place->map_end == 0)
		return slice_of("unknown");
	if (place->file)
		path = t->c->files[place->file].path;
	if (capture_path_is_file(path)) {
		*offset = true;
		return gather_module_base(path);
	}
	if (path.n > 2 && path.p[0] == '[' && path.p[path.n - 1] == ']') {
		*offset = is_kernel_page(path);
		return (struct slice){ path.p + 1, path.n - 2 };
	}
	if (t->c->processes[f->process].jit) /* a memfd as well: compilers use one to map their code twice */
		return slice_of("jit");
	if (is_memfd(path)) {
		*offset = true;
		path = gather_module_undeleted(path);
		return (struct slice){ path.p + 1, path.n - 1 };
	}
	return slice_of("anon");
}

/* Returns the file of the place, NULL if it has none. */
static const struct capture_file *file_of(const struct gather_names *t, const struct capture_place *place)
{
	const struct capture_file *file = place && place->map_end && place->file ? &t->c->files[place->file] : NULL;

	return file && capture_path_is_file(file->path) ? file : NULL;
}

/* Appends a provisional label, because it is not known yet whether the base name identifies the file. */
static bool push_numbered(struct gather_names *t, const struct capture_file *file, const char *offset)
{
	uint32_t number;

	if (!gather_modules_add(t->modules, file->path, file->build_id, t->side, &number))
		return false;
	buf_clear(&t->text);
	gather_modules_label(&t->text, number, offset);
	return push_text(t);
}

static bool push_place(struct gather_names *t, const struct capture_frame *f, const struct capture_place *place)
{
	bool offset;
	struct slice file = place_file(t, f, place, &offset);

	if (t->modules && file_of(t, place)) {
		char text[32];

		snprintf(text, sizeof(text), "+0x%" PRIx64, place->offset);
		return push_numbered(t, file_of(t, place), text);
	}
	buf_clear(&t->text);
	buf_byte(&t->text, '[');
	sanitize_append(&t->text, file);
	if (offset && t->style != GATHER_NAMES_MODULES)
		buf_printf(&t->text, "+0x%" PRIx64, place->offset);
	buf_byte(&t->text, ']');
	if (t->annotated && slice_is(file, "jit"))
		buf_text(&t->text, "_[j]");
	return push_text(t);
}

/*
 * Source files have no suffix like the " (deleted)" of a mapping. Instead of a path, a script that is built
 * into Node.js has a name of several parts, "node:internal/timers".
 */
static struct slice source_base(struct slice path)
{
	const uint8_t *slash = path.n && !slice_begins(path, "node:") ? memrchr(path.p, '/', path.n - 1) : NULL;

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

/* Appends the name of a function, with its line if that is asked for and known. */
static bool push_line(struct gather_names *t, struct slice name, struct slice file, uint32_t line,
		      const char *suffix)
{
	if (!t->lines || file.n == 0)
		return push_name(t, name, suffix);
	if (!t->full_paths)
		file = source_base(file);
	buf_clear(&t->line);
	sanitize_append(&t->line, name);
	buf_text(&t->line, " (");
	buf_bytes(&t->line, file.p, file.n);
	if (line)
		buf_printf(&t->line, ":%" PRIu32, line);
	buf_byte(&t->line, ')');
	return !t->line.failed && push_name(t, buf_view(&t->line), suffix);
}

static bool asks_source(const struct gather_names *t)
{
	return t->style == GATHER_NAMES_LINES || t->style == GATHER_NAMES_FILES;
}

/* Appends "file.c:12" or "file.c"; a file that is not known is empty. */
static bool push_source(struct gather_names *t, struct slice file, uint32_t line, const char *suffix)
{
	bool lines = t->style == GATHER_NAMES_LINES;

	if (file.n == 0)
		return push_name(t, slice_of(lines ? "[no line]" : "[no file]"), suffix);
	if (!t->full_paths)
		file = source_base(file);
	buf_clear(&t->line);
	buf_bytes(&t->line, file.p, file.n);
	if (lines && line)
		buf_printf(&t->line, ":%" PRIu32, line);
	return !t->line.failed && push_name(t, buf_view(&t->line), suffix);
}

static bool push_function(struct gather_names *t, const struct capture_symbol *s, const char *suffix)
{
	if (asks_source(t))
		return push_source(t, capture_text(t->c, s->file), s->line, suffix);
	return push_line(t, capture_text(t->c, s->name), capture_text(t->c, s->file), s->line, suffix);
}

/* Appends the function that the code belongs to, then those inlined into it; cuts the middle of too many. */
static bool push_symbol(struct gather_names *t, const struct capture_symbol *s, const char *suffix)
{
	const struct capture_symbol *symbols = t->c->symbols;
	uint32_t n = 1, i = 0;

	if (!t->inlined)
		return push_function(t, s, suffix);
	for (const struct capture_symbol *in = s; in->inner; in = &symbols[in->inner])
		n++;
	for (;; s = &symbols[s->inner], i++, suffix = "_[i]") {
		bool cut = n > GATHER_NAMES_LEVELS && i >= GATHER_NAMES_LEVELS / 2 && i < n - GATHER_NAMES_LEVELS / 2;

		if (cut ? i == GATHER_NAMES_LEVELS / 2 && !run_push(t, 0) : !push_function(t, s, suffix))
			return false;
		if (!s->inner)
			return true;
	}
}

/* "+0x1230" of "[libx.so+0x1230]", into text; false where the name has another form. */
static bool bounds_offset(struct slice name, char text[32])
{
	const uint8_t *plus = name.n > 1 && name.p[name.n - 1] == ']' ? memrchr(name.p, '+', name.n) : NULL;
	size_t n = plus ? name.n - 1 - (size_t)(plus - name.p) : 0;

	if (n < 4 || n > 19 || memcmp(plus, "+0x", 3) != 0)
		return false;
	memcpy(text, plus, n);
	text[n] = '\0';
	return strspn(text + 3, "0123456789abcdef") == n - 3;
}

/* Appends the place where a function without a name begins, in a file that is kept apart if places are. */
static bool push_bounds(struct gather_names *t, const struct capture_symbol *s, const struct capture_place *place)
{
	char offset[32];

	if (t->modules && file_of(t, place) && bounds_offset(capture_text(t->c, s->name), offset))
		return push_numbered(t, file_of(t, place), offset);
	return push_name(t, capture_text(t->c, s->name), "");
}

static bool is_jit(const struct capture_symbol *s)
{
	return s->source == NAME_PERFMAP || s->source == NAME_JITDUMP;
}

static bool push_user_module(struct gather_names *t, const struct capture_frame *f, const struct capture_symbol *s,
			     const struct capture_place *place)
{
	const struct capture_file *file = file_of(t, place);

	if (s && is_jit(s))
		return push_name(t, slice_of("[jit]"), "_[j]");
	if (file && t->modules)
		return push_numbered(t, file, "");
	if (file)
		return push_name(t, gather_module_base(file->path), "");
	return push_place(t, f, place);
}

static bool push_kernel(struct gather_names *t, uint32_t frame, const struct capture_symbol *s,
			bool *resolved)
{
	const struct capture_ksym *k = capture_ksym(t->c, frame);

	if (s && s->source == NAME_BOUNDS && k)
		s = NULL;
	*resolved = k || (s && s->source != NAME_BOUNDS);
	if (t->style == GATHER_NAMES_MODULES) {
		struct slice module = k && k->module ? capture_text(t->c, k->module) : slice_of("kernel");

		if (module.n > 2 && module.p[0] == '[' && module.p[module.n - 1] == ']') /* as in kallsyms */
			module = (struct slice){ module.p + 1, module.n - 2 };
		buf_clear(&t->text);
		buf_byte(&t->text, '[');
		sanitize_append(&t->text, module);
		buf_text(&t->text, t->annotated ? "]_[k]" : "]");
		return push_text(t);
	}
	if (s)
		return push_symbol(t, s, "_[k]");
	if (asks_source(t))
		return push_source(t, (struct slice){ NULL, 0 }, 0, "_[k]");
	return push_name(t, k ? capture_text(t->c, k->name) : slice_of("[kernel]"), "_[k]");
}

/* Appends "[python: not-yet]", or for modules "[python]". */
static bool push_state(struct gather_names *t, const struct capture_frame *f, const char *suffix)
{
	buf_clear(&t->line);
	buf_printf(&t->line, "[%s", language_name(f->language));
	if (t->style != GATHER_NAMES_MODULES)
		buf_printf(&t->line, ": %s", lang_state_name(f->state));
	buf_byte(&t->line, ']');
	return !t->line.failed && push_name(t, buf_view(&t->line), suffix);
}

/* Returns the script that the frame's code belongs to, empty if it is not known. */
static struct slice script_of(const struct gather_names *t, const struct capture_frame *f)
{
	const struct capture_function *function = capture_function(t->c, f);

	return function ? capture_function_path(t->c, function) : (struct slice){ NULL, 0 };
}

/* Only a path has a base name: a text like "<string>" or "(eval at /x:1)" is one as a whole. */
static bool push_script(struct gather_names *t, struct slice path)
{
	uint32_t number;

	if (path.p[0] == '<' || path.p[0] == '(')
		return push_name(t, path, "_[l]");
	if (!t->modules)
		return push_name(t, gather_module_base(path), "_[l]");
	if (!gather_modules_add(t->modules, path, (struct slice){ NULL, 0 }, t->side, &number))
		return false;
	buf_clear(&t->text);
	gather_modules_label(&t->text, number, t->annotated ? "_[l]" : "");
	return push_text(t);
}

/*
 * Returns the name of a function. One without a name is a place, "(anonymous) file.js:12", so that those of
 * different places stay apart; if its line is not known, "(anonymous) file.js@345" with the position.
 */
static struct slice function_name(struct gather_names *t, const struct capture_function *f)
{
	struct slice path = capture_function_path(t->c, f), name = capture_function_name(t->c, f);

	if (name.n || t->c->scripts[f->script].language != LANGUAGE_JAVASCRIPT)
		return name;
	if (f->flags & FUNCTION_TOP_LEVEL)
		return slice_of("(top level)");
	buf_clear(&t->place);
	buf_text(&t->place, "(anonymous) ");
	path = path.n == 0 ? slice_of("(eval)") : t->full_paths ? path : source_base(path);
	buf_bytes(&t->place, path.p, path.n);
	if (f->line)
		buf_printf(&t->place, ":%" PRIu32, f->line);
	else if (f->start)
		buf_printf(&t->place, "@%" PRIu32, f->start - 1);
	return t->place.failed ? slice_of("(anonymous)") : buf_view(&t->place);
}

static bool push_lang(struct gather_names *t, const struct capture_frame *f)
{
	const struct capture_function *function = capture_function(t->c, f);

	if (t->style == GATHER_NAMES_LANGUAGES)
		return push_name(t, slice_of(language_name(f->language)), "_[l]");
	if (asks_source(t))
		return push_source(t, script_of(t, f), function ? capture_lang_line(t->c, f) : 0, "_[l]");
	if (t->style == GATHER_NAMES_MODULES && script_of(t, f).n)
		return push_script(t, script_of(t, f));
	if (!function || t->style == GATHER_NAMES_MODULES)
		return push_state(t, f, "_[l]");
	return push_line(t, function_name(t, function), script_of(t, f),
			 capture_lang_line(t->c, f), "_[l]");
}

const struct capture_symbol *gather_names_symbol(const struct gather_names *t, uint32_t frame, uint64_t epoch)
{
	uint32_t at = timeline_find(&t->symbols, frame, epoch);

	return at && t->c->symbols[at].name && t->c->symbols[at].source != NAME_NONE ? &t->c->symbols[at] : NULL;
}

const struct capture_place *gather_names_place(const struct gather_names *t, uint32_t frame, uint64_t epoch)
{
	uint32_t at = timeline_find(&t->places, frame, epoch);

	return at ? &t->c->places[at] : NULL;
}

/* Appends the labels of the frame in the current style. */
static bool push_part(struct gather_names *t, uint32_t frame, uint64_t epoch, bool *resolved)
{
	const struct capture_frame *f = &t->c->frames[frame];
	const struct capture_symbol *s = gather_names_symbol(t, frame, epoch);
	const struct capture_place *place = gather_names_place(t, frame, epoch);

	*resolved = s && s->source != NAME_BOUNDS;
	if (capture_is_lang(f)) {
		*resolved = f->state == LANG_OK;
		return push_lang(t, f);
	}
	if (t->style == GATHER_NAMES_LANGUAGES) {
		*resolved = *resolved || capture_ksym(t->c, frame);
		return push_name(t, slice_of(f->process ? "native" : "kernel"), f->process ? "" : "_[k]");
	}
	if (!f->process)
		return push_kernel(t, frame, s, resolved);
	if (t->style == GATHER_NAMES_MODULES)
		return push_user_module(t, f, s, place);
	if (s && s->source != NAME_BOUNDS)
		return push_symbol(t, s, is_jit(s) ? "_[j]" : "");
	if (asks_source(t))
		return push_source(t, (struct slice){ NULL, 0 }, 0, "");
	return s ? push_bounds(t, s, place) : push_place(t, f, place);
}

/* Returns the label of a level in a part: a module or a language is the same for all inlined functions. */
static uint32_t label_at(const struct gather_names *t, const size_t *starts, unsigned int part, size_t level)
{
	size_t n = starts[part + 1] - starts[part];

	return t->runs[starts[part] + (level < n ? level : n - 1)];
}

/* Replaces the parts from starts[0] on, level by level, with labels of all parts. */
static bool join_parts(struct gather_names *t, const size_t *starts, unsigned int parts)
{
	size_t levels = 0, end = t->n_runs;

	for (unsigned int part = 0; part < parts; part++)
		levels = starts[part + 1] - starts[part] > levels ? starts[part + 1] - starts[part] : levels;
	for (size_t level = 0; level < levels; level++) {
		buf_clear(&t->text);
		for (unsigned int part = 0; part < parts; part++) {
			struct slice name = profile_text(t->p, label_at(t, starts, part, level));

			if (part)
				buf_byte(&t->text, GATHER_NAMES_PART);
			buf_bytes(&t->text, name.p, name.n);
		}
		if (!push_text(t))
			return false;
	}
	memmove(t->runs + starts[0], t->runs + end, levels * sizeof(*t->runs));
	t->n_runs = starts[0] + levels;
	return true;
}

static bool look_up_frame(struct gather_names *t, uint32_t frame, uint64_t epoch, uint32_t *at)
{
	size_t starts[GATHER_NAMES_STYLES + 1];
	unsigned int parts = 0;
	bool resolved = false;

	*at = (uint32_t)t->n_runs;
	if (!run_push(t, 0))
		return false;
	starts[0] = t->n_runs;
	for (unsigned int style = 0; style < GATHER_NAMES_STYLES; style++) {
		if (!(t->parts >> style & 1))
			continue;
		t->style = (enum gather_names_style)style;
		if (!push_part(t, frame, epoch, &resolved))
			return false;
		starts[++parts] = t->n_runs;
	}
	if (parts > 1 && !join_parts(t, starts, parts))
		return false;
	t->runs[*at] = (uint32_t)(t->n_runs - *at - 1) << 1 | resolved;
	return true;
}

/* Returns whether the frame can mean different things in different epochs. */
static bool has_many_meanings(const struct gather_names *t, uint32_t frame)
{
	return t->places.first[frame + 1] - t->places.first[frame] > 1 ||
	       t->symbols.first[frame + 1] - t->symbols.first[frame] > 1;
}

bool gather_names_epoch(struct gather_names *t, uint64_t epoch, uint32_t *number)
{
	if (idmap_find(&t->epochs, epoch, number))
		return true;
	*number = (uint32_t)t->epochs.n;
	return idmap_set(&t->epochs, epoch, *number);
}

/* All that the labels of a frame, and its place in a file, depend on. */
struct meaning {
	uint64_t offset, map_start, map_end;
	uint32_t frame, symbol, file, zero;
};

/* Names the frame, unless it means the same as in an epoch before. */
static bool find_meaning(struct gather_names *t, uint32_t frame, uint64_t epoch, uint32_t *at)
{
	const struct capture_place *place = gather_names_place(t, frame, epoch);
	struct meaning m = { .frame = frame, .symbol = timeline_find(&t->symbols, frame, epoch) };
	uint32_t id;

	if (place)
		m = (struct meaning){ place->offset, place->map_start, place->map_end, frame, m.symbol,
				      place->file, 0 };
	if (!intern_add(&t->meanings, (struct slice){ (const uint8_t *)&m, sizeof(m) }, &id) ||
	    !grow_array(&t->by_meaning, &t->cap_by_meaning, id, sizeof(*t->by_meaning)))
		return false;
	if (!t->by_meaning[id] && !look_up_frame(t, frame, epoch, &t->by_meaning[id]))
		return false;
	*at = t->by_meaning[id];
	return true;
}

static bool find_run(struct gather_names *t, uint32_t frame, uint64_t epoch, uint32_t number, uint32_t *at)
{
	uint64_t key = (uint64_t)frame << 32 | number;

	if (!has_many_meanings(t, frame)) {
		*at = t->by_frame[frame];
		if (*at || look_up_frame(t, frame, epoch, at))
			t->by_frame[frame] = *at;
		return t->by_frame[frame] != 0;
	}
	return idmap_find(&t->by_epoch, key, at) ||
	       (find_meaning(t, frame, epoch, at) && idmap_set(&t->by_epoch, key, *at));
}

bool gather_names_frame(struct gather_names *t, uint32_t frame, uint64_t epoch, uint32_t number, struct gather_names_run *run)
{
	uint32_t at;

	if (!find_run(t, frame, epoch, number, &at))
		return false;
	*run = (struct gather_names_run){ t->runs + at + 1, t->runs[at] >> 1, t->runs[at] & 1 };
	return true;
}
