#include "common/resolve/namer.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/radix.h"
#include "common/resolve/jit.h"
#include "common/resolve/strings.h"

/* What we found for a place. */
struct answer {
	uint64_t offset;
	uint32_t text;        /* 0: nothing */
	uint32_t levels : 24; /* in namer's levels; 0: nothing is known */
	uint32_t source : 7;  /* enum name_source */
	uint32_t late : 1;    /* it is in the list of those */
};

enum { LEVELS_KEPT = 1 << 24 }; /* twice as many as there are places at most */

/* What is known of a FILE of the segment. */
struct file_state {
	uint32_t module; /* + 1; 0: not asked for yet */
	uint32_t version; /* of the module when it was last asked */
	uint32_t process; /* for which the module was last looked for */
	uint64_t seen;    /* when it was first */
	bool used, is_file;
	bool heard; /* the stream says something, in the four below */
	uint32_t status, kind;
	uint32_t path;
};

/* Is it a name, and not just where the function begins? */
static bool is_named(uint32_t source)
{
	return source != NAME_NONE && source != NAME_BOUNDS;
}

struct list {
	uint32_t *items;
	size_t n, cap;
};

struct namer {
	struct modules *modules;
	struct intern *texts;
	/* Of the segment. */
	struct strings strings;
	struct intern levels; /* lists of struct level; 0 is the empty one */
	struct jit jit;
	struct answer *answers; /* by place */
	size_t cap_answers;
	struct file_state *files; /* by FILE; 0 is the kernel */
	size_t n_files, cap_files;
	size_t n_placed, n_said; /* places below were seen; were written */
	struct radix_item *queue; /* places to be looked up in files when the block ends */
	size_t n_queue, cap_queue;
	struct list late;        /* places that got their names after their block */
	struct list new_files;   /* files that need their SOURCE */
	struct list kernel;      /* kernel frames that have no name yet */
	uint64_t kernel_named, kernel_frames;
	size_t n_ksyms;
	struct kernel_files *kernel_files; /* NULL: none are asked */
	bool asked_files; /* which file is this segment's? */
	bool file_named;  /* it gave a name */
	struct idmap said_ksyms; /* by address, those that were taken from it */
	bool kernel_new, last_said;
	bool host_known;
	enum identity_host host;
	/* Of all segments. */
	struct tally tally;
};

static bool list_add(struct list *l, uint32_t v)
{
	if (!grow_array(&l->items, &l->cap, l->n, sizeof(*l->items)))
		return false;
	l->items[l->n++] = v;
	return true;
}

static bool no_levels(struct namer *n)
{
	uint32_t none;

	intern_release(&n->levels);
	intern_init(&n->levels);
	return intern_add(&n->levels, (struct slice){ (const uint8_t *)"", 0 }, &none);
}

/* The place has got its name after its block. */
static bool add_late(struct namer *n, uint32_t place)
{
	if (n->answers[place].late || place >= n->n_said)
		return true;
	n->answers[place].late = true;
	return list_add(&n->late, place);
}

struct namer *namer_new(struct modules *modules)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->modules = modules;
	n->texts = modules_texts(modules);
	n->n_placed = n->n_said = 1;
	n->last_said = true;
	if (!no_levels(n)) {
		namer_free(n);
		return NULL;
	}
	return n;
}

static bool forget_segment(struct namer *n)
{
	strings_clear(&n->strings);
	jit_release(&n->jit);
	if (n->files)
		memset(n->files, 0, n->cap_files * sizeof(*n->files));
	n->n_files = 0;
	n->n_placed = n->n_said = 1;
	n->n_queue = n->late.n = n->new_files.n = n->kernel.n = 0;
	n->kernel_named = n->kernel_frames = 0;
	n->n_ksyms = 0;
	idmap_clear(&n->said_ksyms);
	n->asked_files = n->file_named = false;
	n->kernel_new = n->last_said = n->host_known = false;
	return no_levels(n);
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	strings_release(&n->strings);
	intern_release(&n->levels);
	jit_release(&n->jit);
	free(n->answers);
	free(n->files);
	free(n->queue);
	free(n->late.items);
	free(n->new_files.items);
	free(n->kernel.items);
	idmap_release(&n->said_ksyms);
	tally_release(&n->tally);
	free(n);
}

static struct file_state *file_state(struct namer *n, uint64_t file)
{
	if (file > INT32_MAX || !grow_array(&n->files, &n->cap_files, (size_t)file, sizeof(*n->files)))
		return NULL;
	if (file >= n->n_files)
		n->n_files = (size_t)file + 1;
	return &n->files[file];
}

/* The bytes that stand for a mapping without a file: the vDSO's. */
static struct slice image_of(const struct capture *c, const struct capture_file *f)
{
	const struct capture_image *image = capture_image(c, f->path, f->build_id);

	return image ? image->data : (struct slice){ NULL, 0 };
}

static void know_host(struct namer *n, const struct capture *c)
{
	if (n->host_known)
		return;
	n->host_known = true;
	n->host = identity_host(capture_meta(c, "machine-id"), capture_meta(c, "boot-id"));
}

/* Who had the file of this place mapped, and where. */
static struct module_user user_of(const struct capture *c, const struct capture_place *p)
{
	const struct capture_process *process = &c->processes[c->frames[p->frame].process];

	return (struct module_user){ process->pid, process->start, p->map_start, p->map_end,
				     capture_text(c, process->cgroup) };
}

/* A file that one process does not have, or has another of, may be found where another sees it. */
static bool is_found(struct namer *n, struct file_state *f, uint32_t process)
{
	enum source_status status;

	if (f->process == process || n->host != HOST_BOOT)
		return true;
	status = modules_state(n->modules, f->module - 1).status;
	return status == SOURCE_OK || status == SOURCE_STRIPPED;
}

/* Finds the module of a file; f->module stays 0 where the mapping has no file. */
static bool find_module(struct namer *n, const struct capture *c, const struct capture_place *p, struct file_state *f)
{
	const struct capture_file *file = &c->files[p->file];
	struct module_identity is = { .dev_major = file->dev_major, .dev_minor = file->dev_minor,
				      .inode = file->inode, .generation = file->generation,
				      .build_id = file->build_id, .path = file->path };
	uint32_t module;

	f->process = c->frames[p->frame].process;
	f->is_file = capture_path_is_file(file->path);
	if (!f->is_file)
		is.image = image_of(c, file);
	if (!f->is_file && !is.image.n)
		return true;
	know_host(n, c);
	is.host = n->host;
	f->seen = f->module ? f->seen : capture_realtime(c, p->sample);
	is.seen = f->seen;
	is.user = user_of(c, p);
	if (!modules_get(n->modules, &is, &module))
		return false;
	f->module = module + 1;
	return true;
}

/* What is known of the place's file, at its first use its module too. */
static bool use_file(struct namer *n, const struct capture *c, const struct capture_place *p, struct file_state **fp)
{
	struct file_state *f = *fp = file_state(n, p->file);

	if (!f)
		return false;
	if (!f->used && !list_add(&n->new_files, p->file))
		return false;
	f->used = true;
	return (f->module && is_found(n, f, c->frames[p->frame].process)) || find_module(n, c, p, f);
}

static bool answer_hit(struct namer *n, const struct capture *c, const struct capture_place *p,
		       const struct perfmap_hit *hit, enum name_source source, struct answer *a)
{
	a->source = source;
	a->offset = c->frames[p->frame].address - hit->start;
	return intern_add(n->texts, hit->name, &a->text);
}

/* Code in memory without a file: by what the process told of it, after a fork by what its parent did. */
static bool ask_maps(struct namer *n, const struct capture *c, uint32_t place, struct answer *a, bool *found)
{
	const struct capture_place *p = &c->places[place];
	const struct capture_frame *f = &c->frames[p->frame];
	uint64_t address = capture_lookup(f, f->address);
	uint32_t process = f->process;
	struct perfmap_hit hit;

	*found = true;
	for (unsigned int depth = 0; process && depth < 16; depth++) {
		int dumped = jit_find_code(&n->jit, process, address, p->sample, &hit);

		if (dumped != 0)
			return dumped > 0 && answer_hit(n, c, p, &hit, NAME_JITDUMP, a);
		if (jit_find(&n->jit, process, address, &hit))
			return answer_hit(n, c, p, &hit, NAME_PERFMAP, a);
		process = c->processes[process].via == VIA_FORK ? c->processes[process].parent : 0;
	}
	*found = false;
	return true;
}

static bool look_in_maps(struct namer *n, const struct capture *c, uint32_t place, struct answer *a)
{
	uint32_t process = c->frames[c->places[place].frame].process;
	bool found;

	return jit_keep(&n->jit, process, place) && ask_maps(n, c, place, a, &found) &&
	       (found || jit_wait(&n->jit, process, place));
}

/* Lines, and what is inlined there, of a place that has a name. */
static bool look_for_levels(struct namer *n, uint32_t module, const struct module_place *where, struct answer *a)
{
	const struct level *levels;
	long found = modules_levels(n->modules, module, where, &levels);
	uint32_t id;

	if (found <= 0)
		return found == 0;
	if (!intern_add(&n->levels, (struct slice){ (const uint8_t *)levels, (size_t)found * sizeof(*levels) }, &id))
		return false;
	a->levels = id < LEVELS_KEPT ? id : 0;
	return true;
}

static bool look_in_module(struct namer *n, const struct capture *c, const struct capture_place *p,
			   struct file_state *f, struct answer *a)
{
	const struct capture_frame *frame = &c->frames[p->frame];
	struct module_place where = {
		.offset = p->offset,
		.map_offset = p->offset - (frame->address - p->map_start),
		.map_length = p->map_end - p->map_start,
		.after_call = capture_lookup(frame, frame->address) != frame->address,
	};
	struct module_name name;
	int found = modules_name(n->modules, f->module - 1, &where, &name);

	if (found <= 0 || !is_named(name.source))
		f->version = modules_state(n->modules, f->module - 1).version;
	if (found > 0)
		*a = (struct answer){ .text = name.text, .source = name.source, .late = a->late, .offset = name.offset };
	return found == 0 || (found > 0 && look_for_levels(n, f->module - 1, &where, a));
}

/*
 * Only perf maps have to be asked at once. What lies in files waits for its block to end and is looked
 * up in the order of addresses, which turns most cache misses into hits: on a million different
 * addresses that halves the time.
 */
static bool look_up(struct namer *n, const struct capture *c, uint32_t place)
{
	const struct capture_place *p = &c->places[place];
	struct answer *a = &n->answers[place];
	struct file_state *f = NULL;

	*a = (struct answer){ .late = a->late };
	if (p->map_end == 0) /* nothing was mapped there */
		return true;
	if (p->file && !use_file(n, c, p, &f))
		return false;
	if (!f || !f->module)
		return look_in_maps(n, c, place, a);
	if (!extend_array(&n->queue, &n->cap_queue, n->n_queue, sizeof(*n->queue)))
		return false;
	n->queue[n->n_queue++] = (struct radix_item){ ((uint64_t)f->module << 40) ^ p->offset, place };
	return true;
}

static bool look_up_new(struct namer *n, const struct capture *c)
{
	for (; n->n_placed < c->n_places; n->n_placed++) {
		if (!extend_array(&n->answers, &n->cap_answers, n->n_placed, sizeof(*n->answers)))
			return false;
		if (n->n_placed == 1)
			n->answers[0] = (struct answer){ 0 }; /* of no place */
		n->answers[n->n_placed].late = false;
		if (!look_up(n, c, (uint32_t)n->n_placed))
			return false;
	}
	return true;
}

static void expect_name(const struct namer *n, const struct capture_place *p, enum expectation when)
{
	modules_expect(n->modules, n->files[p->file].module - 1, p->offset, when);
}

/* What comes next in the queue lies anywhere in memory: it is fetched while those before are named. */
static void expect_queued(const struct namer *n, const struct capture *c, const struct radix_item *sorted, size_t i)
{
	enum { NEAR = 5, NEARER = 10, FAR = 16, FARTHEST = 32 };

	if (i + FARTHEST >= n->n_queue)
		return;
	__builtin_prefetch(&c->places[sorted[i + FARTHEST].value]);
	__builtin_prefetch(&c->frames[c->places[sorted[i + FAR].value].frame]);
	__builtin_prefetch(&n->answers[sorted[i + FAR].value], 1);
	expect_name(n, &c->places[sorted[i + FAR].value], EXPECT_FAR);
	expect_name(n, &c->places[sorted[i + NEARER].value], EXPECT_NEARER);
	expect_name(n, &c->places[sorted[i + NEAR].value], EXPECT_NEAR);
}

static bool look_up_queued(struct namer *n, const struct capture *c)
{
	struct radix_item *spare = malloc((n->n_queue + 1) * sizeof(*spare)), *sorted;
	bool good = spare != NULL;

	sorted = good ? radix_sort(n->queue, spare, n->n_queue) : NULL;
	for (size_t i = 0; good && i < n->n_queue; i++) {
		const struct capture_place *p = &c->places[sorted[i].value];

		expect_queued(n, c, sorted, i);
		good = look_in_module(n, c, p, &n->files[p->file], &n->answers[sorted[i].value]);
	}
	n->n_queue = 0;
	free(spare);
	return good;
}

struct trial {
	struct namer *n;
	const struct capture *c;
	bool failed;
};

static bool try_late(void *arg, uint32_t place, const struct perfmap_run *run)
{
	struct trial *t = arg;
	const struct capture_place *p = &t->c->places[place];
	const struct capture_frame *f = &t->c->frames[p->frame];
	struct perfmap_hit hit;

	if (t->n->answers[place].text) /* a jitdump file came first */
		return true;
	if (!perfmap_run_find(run, capture_lookup(f, f->address), &hit))
		return false;
	if (!answer_hit(t->n, t->c, p, &hit, NAME_PERFMAP, &t->n->answers[place]) || !add_late(t->n, place))
		t->failed = true;
	return true;
}

static bool hear_jitmap(struct namer *n, const struct capture *c, const struct record_jitmap *r)
{
	struct trial t = { n, c, false };

	return jit_add(&n->jit, (uint32_t)r->process, r->generation, r->data, try_late, &t) && !t.failed;
}

static void ask_place(void *arg, uint32_t place, uint64_t *address, uint64_t *time)
{
	const struct trial *t = arg;
	const struct capture_frame *f = &t->c->frames[t->c->places[place].frame];

	*address = capture_lookup(f, f->address);
	*time = t->c->places[place].sample;
}

static bool tell_place(void *arg, uint32_t place, const struct perfmap_hit *hit)
{
	struct trial *t = arg;
	struct answer *a = &t->n->answers[place], new = { .late = a->late };
	uint32_t before = t->c->places[place].before;

	if (!answer_hit(t->n, t->c, &t->c->places[place], hit, NAME_JITDUMP, &new))
		return false;
	/* One that was not written, because the place before had the same, may have to be now. They come in order. */
	if (new.text == a->text && new.offset == a->offset && a->source == NAME_JITDUMP && !t->n->answers[before].late)
		return true;
	*a = new;
	return add_late(t->n, place);
}

/* What jitdump files told later than it was needed; last: and what a parent did, for those that it forked. */
static bool revise_jit(struct namer *n, const struct capture *c, bool last)
{
	struct trial t = { n, c, false };
	bool good = jit_revise(&n->jit, &(struct jit_revision){ ask_place, tell_place, &t }, last), found;

	for (uint32_t i = 1; good && last && n->jit.n && i < n->n_placed; i++) {
		const struct capture_place *p = &c->places[i];

		if (n->answers[i].text || !p->map_end || (p->file && n->files[p->file].module) ||
		    c->processes[c->frames[p->frame].process].via != VIA_FORK)
			continue;
		good = ask_maps(n, c, i, &n->answers[i], &found) && (!found || add_late(n, i));
	}
	return good;
}

static bool hear_source(struct namer *n, const struct capture *c, const struct record_source *r)
{
	struct file_state *f;

	if (r->file && r->file >= c->n_files)
		return true; /* of no FILE */
	f = file_state(n, r->file);
	if (!f)
		return false;
	f->heard = true;
	f->status = (uint32_t)r->status;
	f->kind = (uint32_t)r->kind;
	return intern_add(n->texts, r->path, &f->path);
}

bool namer_see(struct namer *n, struct capture *c, const struct record *r)
{
	uint32_t text;

	switch (r->type) {
	case RECORD_SEGMENT:
		return forget_segment(n) && modules_tidy(n->modules, MODULES_KEEP);
	case RECORD_FRAME:
		if (r->frame.process)
			return true;
		n->kernel_frames++;
		n->kernel_new = true;
		return list_add(&n->kernel, (uint32_t)r->frame.id);
	case RECORD_SAMPLE:
		return look_up_new(n, c);
	case RECORD_JITMAP:
		return hear_jitmap(n, c, &r->jitmap);
	case RECORD_JITCODE:
		return jit_see_code(&n->jit, &r->jitcode);
	case RECORD_STRING:
		return intern_add(n->texts, r->string.text, &text) && strings_see(&n->strings, r->string.id, text);
	case RECORD_SOURCE:
		return hear_source(n, c, &r->source);
	default:
		return true;
	}
}

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

/* Are lines and inlined functions of a name that was said at least ours? */
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

/* Has it been said, or something better? */
static bool is_heard(const struct namer *n, const struct capture *c, uint32_t frame, uint64_t from,
		     const struct answer *a)
{
	const struct capture_symbol *s = capture_symbol_from(c, frame, from);

	return s && (name_source_rank(s->source) > name_source_rank(a->source) ||
		     (s->source == a->source && s->offset == a->offset && same_text(n, c, s->name, a->text) &&
		      levels_heard(n, c, s, a)));
}

/* 0 for text 0, which is no text. False without memory. */
static bool string_of(struct namer *n, struct writer *w, uint32_t text, uint64_t *id)
{
	*id = text ? strings_id(&n->strings, n->texts, text, w) : 0;
	return !text || *id;
}

static bool write_symbol(struct namer *n, const struct capture *c, struct writer *w, uint32_t frame, uint64_t from,
			 const struct answer *a)
{
	struct record r = { .type = RECORD_SYMBOL,
			    .symbol = { .frame = frame, .from = from, .source = a->source, .offset = a->offset } };
	size_t count = a->levels ? count_levels(n, a) : 0;

	if (is_heard(n, c, frame, from, a))
		return true;
	for (size_t i = 0; i == 0 || i < count; i++) {
		struct level l = i < count ? level_of(n, a, i) : (struct level){ 0 };

		if (!string_of(n, w, i ? l.name : a->text, &r.symbol.name) || !string_of(n, w, l.file, &r.symbol.file))
			return false;
		r.symbol.level = i;
		r.symbol.line = l.line;
		writer_put(w, &r);
	}
	return true;
}

/* The name of a place, unless the frame's place before has the same and nothing came in between. */
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

/* What named the kernel, or why nothing did: a file that was named or found, else what was recorded. */
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
	struct file_state *f = file_state(n, id);
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
	/* Of the kernel's some are in the capture after the first run: what gave them stays. */
	if (id == 0 && f->heard && f->status == SOURCE_OK && name_source_rank(f->kind) >= name_source_rank(s.kind))
		return true;
	/* Why it failed is told once, wherever it was tried. */
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

/* What a text file says of a kernel address becomes a record, as if it had been recorded: it tells the module. */
static bool say_ksym(struct namer *n, struct writer *w, const struct kernel_symbol *s)
{
	uint32_t said;

	if (s->size == 0 || idmap_find(&n->said_ksyms, s->address, &said))
		return true;
	writer_put(w, &(struct record){ .type = RECORD_KSYM, .ksym = { 0, s->address, s->size, s->name, s->module } });
	return idmap_set(&n->said_ksyms, s->address, 0);
}

/* By a file, where the capture has no symbols of its own, or one was named. As name_kernel. */
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

/* 1: named. 0: not yet. A symbol without a size names nothing before all symbols are known. */
static int name_kernel(struct namer *n, struct capture *c, struct writer *w, uint32_t id, bool last)
{
	const struct capture_frame *f = &c->frames[id];
	const struct capture_ksym *k = capture_ksym(c, capture_lookup(f, f->address));
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

static bool say_kernel(struct namer *n, struct capture *c, struct writer *w, bool last)
{
	size_t still = 0;

	if (!n->kernel_new && n->n_ksyms == c->n_ksyms && !last)
		return true;
	n->kernel_new = false;
	n->n_ksyms = c->n_ksyms;
	for (size_t i = 0; i < n->kernel.n; i++) {
		int named = name_kernel(n, c, w, n->kernel.items[i], last);

		if (named < 0)
			return false;
		if (!named)
			n->kernel.items[still++] = n->kernel.items[i];
		n->kernel_named += (uint64_t)named;
	}
	n->kernel.n = still;
	return true;
}

bool namer_say(struct namer *n, struct capture *c, struct writer *w)
{
	enum { AHEAD = 12 };
	bool good = look_up_queued(n, c) && revise_jit(n, c, false);

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

/* Places that had no name and whose file has been found since, by another path. */
static bool look_again(struct namer *n, const struct capture *c)
{
	for (uint32_t i = 1; i < n->n_placed; i++) {
		const struct capture_place *p = &c->places[i];
		struct file_state *f;

		if (is_named(n->answers[i].source))
			continue;
		f = p->file ? file_state(n, p->file) : NULL;
		if (!f || !f->used)
			continue;
		if (f->module && modules_state(n->modules, f->module - 1).version == f->version)
			continue;
		if (!f->module && !image_of(c, &c->files[p->file]).n)
			continue;
		if (!look_up(n, c, i) || !add_late(n, i))
			return false;
	}
	return true;
}

/* Frames of each file that have a name in the stream now and those that have none. */
struct named {
	uint64_t named, unnamed;
};

/* A file with exported names only lacks most of its functions: that is why, not the address. */
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
	return tally_add(&n->tally, &(struct tally_count){ c->files[id].path, slice_of(why), t->named, t->unnamed,
							   t->named && m.by_path });
}

/* Counts a place; what has no name, neither ours nor the stream's of this very time, is in late then. */
static bool count_place(struct namer *n, const struct capture *c, uint32_t place, struct named *t)
{
	const struct capture_place *p = &c->places[place];
	bool ours = is_named(n->answers[place].source), named;
	const struct capture_symbol *s = ours ? NULL : capture_symbol_from(c, p->frame, p->from);

	named = ours || (s && is_named(s->source));
	t->named += named;
	t->unnamed += !named;
	return named || s || n->answers[place].text || list_add(&n->late, place);
}

/* Of those: "none" where the name of another place of the frame would be believed. */
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

/* The last word on places, and the sums. */
static bool finish_places(struct namer *n, const struct capture *c, struct writer *w)
{
	struct named *files = calloc(c->n_files + 2, sizeof(*files)), unmapped = { 0 };
	bool *elsewhere = calloc(c->n_frames + 1, sizeof(*elsewhere)); /* frames of several places, one of them named */
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
		good = tally_add(&n->tally, &(struct tally_count){ slice_of("//anon"),
				slice_of(files[0].unnamed ? "not-a-file" : ""), files[0].named, files[0].unnamed, false });
	if (good && unmapped.unnamed + unmapped.named)
		good = tally_add(&n->tally, &(struct tally_count){ slice_of("[unmapped]"),
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
	return tally_add(&n->tally, &(struct tally_count){ slice_of("[kernel]"), slice_of(unnamed ? why_kernel(n, c) : ""),
							   n->kernel_frames - unnamed, unnamed, false });
}

bool namer_last(struct namer *n, struct capture *c, struct writer *w)
{
	if (n->last_said)
		return true;
	n->last_said = true;
	if (!namer_say(n, c, w) || !revise_jit(n, c, true) || !look_again(n, c))
		return false;
	for (size_t i = 1; i < n->n_files; i++) { /* what came of a file may have changed */
		if (n->files[i].used && !write_source(n, c, w, (uint32_t)i))
			return false;
	}
	return namer_say(n, c, w) && finish_places(n, c, w) && finish_kernel(n, c, w);
}

struct tally *namer_tally(struct namer *n)
{
	return &n->tally;
}
