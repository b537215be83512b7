#include <stdlib.h>

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/resolve/namer_internal.h"

enum { KERNEL_SHARE = 16 };

static size_t count_levels(const struct namer *n, const struct answer *a)
{
	return intern_get(&n->levels, a->levels).n / sizeof(struct level);
}

static struct level level_of(const struct namer *n, const struct answer *a, size_t i)
{
	struct level l;

	memcpy(&l, intern_get(&n->levels, a->levels).p + i * sizeof(l), sizeof(l));
	return l;
}

static bool same_text(const struct namer *n, const struct capture *c, uint32_t theirs, uint32_t ours)
{
	return slice_equal(capture_text(c, theirs), intern_get(n->texts, ours));
}

/* Returns true if the lines and inlined functions of a name in the stream are at least ours. */
static bool levels_heard(const struct namer *n, const struct capture *c, const struct capture_symbol *s,
			 const struct answer *a)
{
	size_t count = count_levels(n, a);

	for (size_t i = 0; i < count; i++) {
		struct level l = level_of(n, a, i);

		if ((i > 0 && !same_text(n, c, s->name, l.name)) || !same_text(n, c, s->file, l.file) || s->line != l.line)
			return false;
		if (i + 1 < count && !s->inner)
			return false;
		s = &c->symbols[s->inner];
	}
	return true;
}

/* Returns true if the stream has this name or a better one. Most frames have no name before this one. */
static bool is_heard(const struct namer *n, const struct capture *c, uint32_t frame, uint64_t from,
		     const struct answer *a)
{
	const struct capture_symbol *s = c->frames[frame].symbol ? capture_symbol_from(c, frame, from) : NULL;

	return s && (name_source_rank(s->source) > name_source_rank(a->source) ||
		     (s->source == a->source && s->offset == a->offset && same_text(n, c, s->name, a->text) &&
		      levels_heard(n, c, s, a)));
}

/* Sets *id to 0 for text 0, which is not a text. Returns false if out of memory. */
static bool string_of(struct namer *n, struct writer *w, uint32_t text, uint64_t *id)
{
	*id = text ? strings_id(&n->strings, n->texts, text, w) : 0;
	return !text || *id;
}

/* Writes the function, and the calls inlined there. */
static bool write_levels(struct namer *n, struct writer *w, struct record_symbol s, const struct answer *a)
{
	size_t count = count_levels(n, a);

	for (size_t i = 0; i < count; i++) {
		struct level l = level_of(n, a, i);

		if (!string_of(n, w, i ? l.name : a->text, &s.name) || !string_of(n, w, l.file, &s.file))
			return false;
		s.level = i;
		s.line = l.line;
		writer_put_symbol(w, &s);
	}
	return true;
}

static bool write_symbol(struct namer *n, const struct capture *c, struct writer *w, uint32_t frame, uint64_t from,
			 const struct answer *a)
{
	struct record_symbol s = { .frame = frame, .from = from, .source = a->source, .offset = a->offset };

	if (is_heard(n, c, frame, from, a))
		return true;
	if (a->levels && count_levels(n, a))
		return write_levels(n, w, s, a);
	if (!string_of(n, w, a->text, &s.name))
		return false;
	writer_put_symbol(w, &s);
	return true;
}

/* Writes a place's name, unless the frame's place before has the same and no other name came in between. */
static bool write_place(struct namer *n, const struct capture *c, struct writer *w, uint32_t place)
{
	const struct capture_place *p = &c->places[place];
	const struct answer *a = &n->answers[place], *before = &n->answers[p->before];

	if (!a->text)
		return true;
	if (p->before && before->text == a->text && before->source == a->source && before->offset == a->offset &&
	    before->levels == a->levels &&
	    !capture_symbol_from(c, p->frame, p->from))
		return true;
	return write_symbol(n, c, w, p->frame, p->from, a);
}

/*
 * Fills the kernel's SOURCE: the file that was given or found, else the recorded symbols, with the reason if
 * nothing named it.
 */
static void kernel_source(const struct namer *n, const struct capture *c, struct record_source *s)
{
	const char *why;

	s->status = c->n_ksyms ? SOURCE_OK : SOURCE_NO_FILE;
	s->kind = c->n_ksyms ? NAME_KSYM : NAME_NONE;
	s->path = slice_of("/proc/kallsyms");
	if (!n->asked_files || (c->n_ksyms && !n->file_named))
		return;
	s->status = kernel_files_state(n->kernel_files, &s->path, &why);
	s->kind = n->file_named ? kernel_files_kind(n->kernel_files) : NAME_NONE;
	if (s->path.n == 0)
		s->path = slice_of("/proc/kallsyms");
}

static bool write_source(struct namer *n, const struct capture *c, struct writer *w, uint32_t id)
{
	struct file_state *f = naming_file(n, id);
	struct record_source s = { .file = id, .status = SOURCE_NOT_A_FILE };
	uint32_t path;

	if (!f)
		return false;
	if (id == 0) {
		kernel_source(n, c, &s);
	} else if (f->module) {
		struct module_state m = modules_state(n->modules, f->module - 1);

		s = (struct record_source){ id, m.status, m.kind, m.path };
	} else {
		s.path = c->files[id].path;
	}
	if (!intern_add(n->texts, s.path, &path))
		return false;
	/* Some kernel symbols are in the capture after the first run: their source stays. */
	if (id == 0 && f->heard && f->status == SOURCE_OK && name_source_rank(f->kind) >= name_source_rank(s.kind))
		return true;
	/* A failure is reported once, wherever the file was searched. */
	if (f->heard && ((f->status == s.status && f->kind == s.kind && (f->path == path || s.status != SOURCE_OK)) ||
			 (f->status == SOURCE_OK && (s.status != SOURCE_OK || name_source_rank(s.kind) < name_source_rank(f->kind)))))
		return true;
	f->heard = true;
	f->status = (uint32_t)s.status;
	f->kind = (uint32_t)s.kind;
	f->path = path;
	writer_put(w, &(struct record){ .type = RECORD_SOURCE, .source = s });
	return true;
}

void namer_use_kernel(struct namer *n, struct kernel_files *k)
{
	n->kernel_files = k;
}

/* Writes a symbol from a text file as a KSYM record, as if it had been recorded: it has the module. */
static bool say_ksym(struct namer *n, struct writer *w, const struct kernel_symbol *s)
{
	uint32_t said;

	if (s->size == 0 || idmap_find(&n->said_ksyms, s->address, &said))
		return true;
	writer_put(w, &(struct record){ .type = RECORD_KSYM, .ksym = { 0, s->address, s->size, s->name, s->module } });
	return idmap_set(&n->said_ksyms, s->address, 0);
}

/* Names a kernel frame by a file, if one was given or the capture has no symbols. Returns as name_kernel. */
static int name_by_file(struct namer *n, const struct capture *c, struct writer *w, uint32_t id)
{
	const struct capture_frame *f = &c->frames[id];
	struct kernel_symbol s;
	struct answer a = { 0 };

	if (!n->kernel_files || (c->n_ksyms && !kernel_files_asked(n->kernel_files)))
		return 0;
	if (!n->asked_files)
		kernel_files_segment(n->kernel_files, c);
	n->asked_files = true;
	if (!kernel_files_find(n->kernel_files, capture_lookup(f, f->address), &s))
		return 0;
	n->file_named = true;
	a.source = kernel_files_kind(n->kernel_files);
	a.offset = f->address - s.address;
	return say_ksym(n, w, &s) && intern_add(n->texts, s.name, &a.text) && write_symbol(n, c, w, id, 0, &a) ? 1 : -1;
}

/* Returns 1 if named, 0 if not yet, -1 if out of memory. Symbols without a size wait until all are known. */
static int name_kernel(struct namer *n, struct capture *c, struct writer *w, uint32_t id, bool last)
{
	const struct capture_frame *f = &c->frames[id];
	const struct capture_ksym *k = capture_ksym(c, id);
	struct answer a = { .source = NAME_KSYM };

	if (!k)
		return name_by_file(n, c, w, id);
	if (!k->name || (k->size == 0 && !last))
		return 0;
	a.offset = f->address - k->address;
	if (!intern_add(n->texts, capture_text(c, k->name), &a.text) || !write_symbol(n, c, w, id, 0, &a))
		return -1;
	return 1;
}

/*
 * Tries new frames at once. Frames that got no name are tried again when enough symbols are new for all tries
 * together to take about KERNEL_SHARE times the number of symbols; the last try is at the end.
 */
static bool say_kernel(struct namer *n, struct capture *c, struct writer *w, bool last)
{
	size_t news = c->n_ksyms - n->n_ksyms;
	bool again = last || (news && news >= n->n_kernel_tried / KERNEL_SHARE);
	size_t still = again ? 0 : n->n_kernel_tried;

	if (again)
		n->n_ksyms = c->n_ksyms;
	for (size_t i = still; i < n->kernel.n; i++) {
		int named = name_kernel(n, c, w, n->kernel.items[i], last);

		if (named < 0)
			return false;
		if (!named)
			n->kernel.items[still++] = n->kernel.items[i];
		n->kernel_named += (uint64_t)named;
	}
	n->kernel.n = n->n_kernel_tried = still;
	return true;
}

bool namer_say(struct namer *n, struct capture *c, struct writer *w)
{
	enum { AHEAD = 12 };
	bool good = naming_look_up_queued(n, c) && naming_revise_jit(n, c, false);

	for (size_t i = 0; good && i < n->new_files.n; i++)
		good = write_source(n, c, w, n->new_files.items[i]);
	n->new_files.n = 0;
	for (size_t i = 0; good && i < n->late.n; i++) {
		n->answers[n->late.items[i]].late = false;
		good = write_place(n, c, w, n->late.items[i]);
	}
	n->late.n = 0;
	for (; good && n->n_said < n->n_placed; n->n_said++) {
		if (n->n_said + AHEAD < n->n_placed)
			strings_expect(&n->strings, n->answers[n->n_said + AHEAD].text);
		good = write_place(n, c, w, (uint32_t)n->n_said);
	}
	return good && say_kernel(n, c, w, false);
}

/* Number of a file's frames that now have a name in the stream, and of those that have none. */
struct named {
	uint64_t named, unnamed;
};

/* A file with only exported names lacks most of its functions: that is the reason, not the address. */
static const char *why_unnamed(const struct file_state *f, const struct module_state *m)
{
	bool bare = f->is_file && (m->kind == NAME_DYNSYM || m->kind == NAME_PLT);

	return m->status != SOURCE_OK ? source_status_name(m->status) :
	       bare ? source_status_name(SOURCE_STRIPPED) : "no-symbol";
}

static bool count_file(struct namer *n, const struct capture *c, uint32_t id, const struct named *t)
{
	const struct file_state *f = &n->files[id];
	struct module_state m = { .status = SOURCE_NOT_A_FILE };
	const char *why = "";

	if (!t->named && !t->unnamed)
		return true;
	if (f->module)
		m = modules_state(n->modules, f->module - 1);
	if (t->unnamed)
		why = why_unnamed(f, &m);
	return coverage_add(&n->tally, &(struct coverage_count){ c->files[id].path, slice_of(why), t->named, t->unnamed,
							   t->named && m.by_path });
}

/* Counts a place. A place without a name, from us or at this time in the stream, goes into the late list. */
static bool count_place(struct namer *n, const struct capture *c, uint32_t place, struct named *t)
{
	const struct capture_place *p = &c->places[place];
	bool ours = is_named(n->answers[place].source), named;
	const struct capture_symbol *s = ours ? NULL : capture_symbol_from(c, p->frame, p->from);

	named = ours || (s && is_named(s->source));
	t->named += named;
	t->unnamed += !named;
	return named || s || n->answers[place].text || naming_list_add(&n->late, place);
}

/* Writes "none" for late places if the name of another place of the frame would be believed. */
static bool deny_names(struct namer *n, const struct capture *c, struct writer *w, const bool *elsewhere)
{
	static const struct answer none = { .source = NAME_NONE };
	bool good = true;

	for (size_t i = 0; good && i < n->late.n; i++) {
		const struct capture_place *p = &c->places[n->late.items[i]];

		if (elsewhere[p->frame] || c->frames[p->frame].symbol)
			good = write_symbol(n, c, w, p->frame, p->from, &none);
	}
	n->late.n = 0;
	return good;
}

static bool place_named(const struct namer *n, const struct capture *c, uint32_t place)
{
	const struct capture_place *p = &c->places[place];
	const struct capture_symbol *s;

	if (is_named(n->answers[place].source))
		return true;
	s = capture_symbol_from(c, p->frame, p->from);
	return s && is_named(s->source);
}

/* Counts a place for its process: as a file of a runtime, or as code in memory without a file. */
static void count_runtime(const struct namer *n, const struct capture *c, uint32_t place, struct jit_runtime_count *to)
{
	const struct capture_place *p = &c->places[place];
	struct slice path = p->file ? c->files[p->file].path : slice_of("//");
	unsigned int runtime = p->file ? jit_runtimes_file(path) : 0;

	if (runtime)
		to->runtime = runtime;
	if (!p->map_end || path.n == 0 || path.p[0] != '/' || capture_path_is_file(path))
		return;
	if (place_named(n, c, place))
		to->named++;
	else
		to->unnamed++;
}

/* A process whose functions the recorder knows needs no option: they were not known at first. */
static void leave_out_known(const struct capture *c, struct jit_runtime_count *processes)
{
	for (size_t i = 1; i < c->n_frames; i++) {
		const struct capture_frame *f = &c->frames[i];

		if (f->defined && capture_is_lang(f) && f->function)
			processes[f->process].runtime = 0;
	}
}

static bool count_runtimes(struct namer *n, const struct capture *c)
{
	struct jit_runtime_count *processes = calloc(c->n_processes + 1, sizeof(*processes));

	for (uint32_t i = 1; processes && i < n->n_placed; i++)
		count_runtime(n, c, i, &processes[c->frames[c->places[i].frame].process]);
	if (processes) {
		leave_out_known(c, processes);
		jit_runtimes_add(&n->runtimes, processes, c->n_processes);
	}
	free(processes);
	return processes != NULL;
}

/* Completes the places and the counts. */
static bool finish_places(struct namer *n, const struct capture *c, struct writer *w)
{
	struct named *files = calloc(c->n_files + 2, sizeof(*files)), unmapped = { 0 };
	/* frames of several places, one of them named */
	bool *elsewhere = calloc(c->n_frames + 1, sizeof(*elsewhere));
	bool good = files && elsewhere;

	for (uint32_t i = 1; good && i < n->n_placed; i++) {
		const struct capture_place *p = &c->places[i];

		good = count_place(n, c, i, p->map_end ? &files[p->file] : &unmapped);
		if (p->before)
			elsewhere[p->frame] |= n->answers[i].text || n->answers[p->before].text;
	}
	good = good && deny_names(n, c, w, elsewhere);
	for (size_t i = 1; good && i < c->n_files && i < n->n_files; i++)
		good = count_file(n, c, (uint32_t)i, &files[i]);
	if (good && files[0].named + files[0].unnamed)
		good = coverage_add(&n->tally, &(struct coverage_count){ slice_of("//anon"),
				slice_of(files[0].unnamed ? "not-a-file" : ""), files[0].named, files[0].unnamed, false });
	if (good && unmapped.unnamed + unmapped.named)
		good = coverage_add(&n->tally, &(struct coverage_count){ slice_of("[unmapped]"),
				slice_of(unmapped.unnamed ? "nothing was mapped there" : ""), unmapped.named, unmapped.unnamed, false });
	free(files);
	free(elsewhere);
	return good;
}

static const char *why_kernel(const struct namer *n, const struct capture *c)
{
	const char *why = NULL;
	struct slice path;

	if (n->asked_files)
		kernel_files_state(n->kernel_files, &path, &why);
	return why ? why : c->n_ksyms || n->file_named ? "no-symbol" : "no kernel symbols were recorded";
}

static bool finish_kernel(struct namer *n, struct capture *c, struct writer *w)
{
	uint64_t unnamed = 0;

	if (!n->kernel_frames)
		return true;
	if (!say_kernel(n, c, w, true) || !write_source(n, c, w, 0))
		return false;
	for (size_t i = 0; i < n->kernel.n; i++) {
		const struct capture_symbol *s = capture_symbol_from(c, n->kernel.items[i], 0);

		unnamed += !s || s->source == NAME_NONE;
	}
	return coverage_add(&n->tally, &(struct coverage_count){ slice_of("[kernel]"), slice_of(unnamed ? why_kernel(n, c) : ""),
							   n->kernel_frames - unnamed, unnamed, false });
}

bool namer_last(struct namer *n, struct capture *c, struct writer *w)
{
	if (n->last_said)
		return true;
	n->last_said = true;
	if (!namer_say(n, c, w) || !naming_revise_jit(n, c, true) || !naming_look_again(n, c))
		return false;
	for (size_t i = 1; i < n->n_files; i++) { /* the result for a file may have changed */
		if (n->files[i].used && !write_source(n, c, w, (uint32_t)i))
			return false;
	}
	return namer_say(n, c, w) && finish_places(n, c, w) && count_runtimes(n, c) && finish_kernel(n, c, w);
}

struct coverage *namer_tally(struct namer *n)
{
	return &n->tally;
}

const struct jit_runtimes *namer_runtimes(const struct namer *n)
{
	return &n->runtimes;
}
