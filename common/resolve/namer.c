#include "common/resolve/namer.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/resolve/namer_internal.h"

enum { QUEUE_OFFSET_BITS = 40 };

bool naming_list_add(struct list *l, uint32_t v)
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

/* Notes a place that got its name after its block. */
static bool add_late(struct namer *n, uint32_t place)
{
	if (n->answers[place].late || place >= n->n_said)
		return true;
	n->answers[place].late = true;
	return naming_list_add(&n->late, place);
}

struct namer *namer_new(struct modules *modules)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->modules = modules;
	n->texts = modules_texts(modules);
	n->has_levels = modules_have_levels(modules);
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
	clear_array(&n->files, &n->cap_files, sizeof(*n->files));
	n->n_files = 0;
	n->n_placed = n->n_said = 1;
	n->n_queue = n->late.n = n->new_files.n = n->kernel.n = 0;
	n->kernel_named = n->kernel_frames = 0;
	n->n_ksyms = n->n_kernel_tried = 0;
	idmap_clear(&n->said_ksyms);
	n->asked_files = n->file_named = false;
	n->last_said = n->host_known = false;
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
	coverage_release(&n->tally);
	free(n);
}

struct file_state *naming_file(struct namer *n, uint64_t file)
{
	if (file > INT32_MAX || !grow_array(&n->files, &n->cap_files, (size_t)file, sizeof(*n->files)))
		return NULL;
	if (file >= n->n_files)
		n->n_files = (size_t)file + 1;
	return &n->files[file];
}

/* Returns the bytes of a mapping without a file: the vDSO's. */
static struct slice image_of(const struct capture *c, const struct capture_file *f)
{
	const struct capture_image *image = capture_image(c, f);

	return image ? image->data : (struct slice){ NULL, 0 };
}

static void know_host(struct namer *n, const struct capture *c)
{
	if (n->host_known)
		return;
	n->host_known = true;
	n->host = identity_host(capture_meta(c, "machine-id"), capture_meta(c, "boot-id"));
}

/* Returns the process that had this place's file mapped, and the mapping. */
static struct module_user user_of(const struct capture *c, const struct capture_place *p)
{
	const struct capture_process *process = &c->processes[c->frames[p->frame].process];

	return (struct module_user){ process->pid, process->start, p->map_start, p->map_end,
				     capture_text(c, process->cgroup) };
}

/* Returns false if the file was not found in another process and may be found as this process sees it. */
static bool is_found(struct namer *n, struct file_state *f, uint32_t process)
{
	enum source_status status;

	if (f->process == process || n->host != HOST_BOOT)
		return true;
	status = modules_state(n->modules, f->module - 1).status;
	return status == SOURCE_OK || status == SOURCE_STRIPPED;
}

/* Finds the module of a file; f->module stays 0 if the mapping has no file. */
static bool find_module(struct namer *n, const struct capture *c, const struct capture_place *p, struct file_state *f)
{
	const struct capture_file *file = &c->files[p->file];
	struct module_identity is = { .dev_major = file->dev_major, .dev_minor = file->dev_minor,
				      .inode = file->inode, .generation = file->generation,
				      .build_id = file->build_id, .path = file->path };
	uint32_t module;

	f->process = c->frames[p->frame].process;
	f->is_file = capture_file_has_names(file);
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

/* Sets *fp to the state of the place's file; at its first use, finds its module too. */
static bool use_file(struct namer *n, const struct capture *c, const struct capture_place *p, struct file_state **fp)
{
	struct file_state *f = *fp = p->file < n->n_files ? &n->files[p->file] : naming_file(n, p->file);

	if (f && f->used && f->module && f->process == c->frames[p->frame].process) /* the common case */
		return true;
	if (!f)
		return false;
	if (!f->used && !naming_list_add(&n->new_files, p->file))
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

/* Names code in memory without a file: by the maps of its process, or, after a fork, of the parent. */
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

/* Finds the source lines and inlined functions of a place that has a name. */
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
	int found = modules_name_once(n->modules, f->module - 1, &where, &name);

	if (found <= 0 || !is_named(name.source))
		f->version = modules_state(n->modules, f->module - 1).version;
	if (found > 0)
		*a = (struct answer){ .text = name.text, .source = name.source, .late = a->late, .offset = name.offset };
	return found == 0 || (found > 0 && (!n->has_levels || look_for_levels(n, f->module - 1, &where, a)));
}

/* Returns the sort key of a place: places near in memory are near in the queue. */
static uint64_t queue_key(uint32_t module, uint64_t offset)
{
	return (uint64_t)module << QUEUE_OFFSET_BITS ^ offset;
}

/*
 * Only perf maps must be read at once. Places in files wait for the end of their block and are looked up in
 * order of address, which turns most cache misses into hits: a million different addresses take half the
 * time.
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
	n->queue[n->n_queue++] = (struct radix_item){ queue_key(f->module, p->offset), place };
	return true;
}

static bool look_up_new(struct namer *n, const struct capture *c)
{
	for (; n->n_placed < c->n_places; n->n_placed++) {
		if (!extend_array(&n->answers, &n->cap_answers, n->n_placed, sizeof(*n->answers)))
			return false;
		if (n->n_placed == 1)
			n->answers[0] = (struct answer){ 0 }; /* place 0 does not exist */
		n->answers[n->n_placed].late = false;
		if (!look_up(n, c, (uint32_t)n->n_placed))
			return false;
	}
	return true;
}

static void expect_name(const struct namer *n, uint64_t key, enum expectation when)
{
	uint64_t offset = key & (((uint64_t)1 << QUEUE_OFFSET_BITS) - 1);

	modules_expect(n->modules, (uint32_t)(key >> QUEUE_OFFSET_BITS) - 1, offset, when);
}

/* Prefetches data of later places in the queue, which may be anywhere in memory. */
static void expect_queued(const struct namer *n, const struct capture *c, const struct radix_item *sorted, size_t i)
{
	enum { NEAR = 5, FAR = 12, FARTHEST = 32 };

	if (i + FARTHEST >= n->n_queue)
		return;
	__builtin_prefetch(&c->places[sorted[i + FARTHEST].value]);
	__builtin_prefetch(&c->frames[c->places[sorted[i + FAR].value].frame]);
	__builtin_prefetch(&n->answers[sorted[i + FAR].value], 1);
	expect_name(n, sorted[i + FAR].key, EXPECT_FAR);
	expect_name(n, sorted[i + NEAR].key, EXPECT_NEAR);
}

bool naming_look_up_queued(struct namer *n, const struct capture *c)
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

	if (t->n->answers[place].text) /* a jitdump file named it first */
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

static bool answer_place(void *arg, uint32_t place, const struct perfmap_hit *hit)
{
	struct trial *t = arg;
	struct answer *a = &t->n->answers[place], new = { .late = a->late };
	uint32_t before = t->c->places[place].before;

	if (!answer_hit(t->n, t->c, &t->c->places[place], hit, NAME_JITDUMP, &new))
		return false;
	/* A name left out because the place before had the same may be needed now. Places come in order. */
	if (new.text == a->text && new.offset == a->offset && a->source == NAME_JITDUMP && !t->n->answers[before].late)
		return true;
	*a = new;
	return add_late(t->n, place);
}

/* Applies late jitdump records; last: also names places in forked processes by their parents' maps. */
bool naming_revise_jit(struct namer *n, const struct capture *c, bool last)
{
	struct trial t = { n, c, false };
	bool good = !last || (jit_try_all(&n->jit, try_late, &t) && !t.failed), found;

	good = good && jit_revise(&n->jit, &(struct jit_revision){ ask_place, answer_place, &t }, last);
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
		return true; /* no such FILE */
	f = naming_file(n, r->file);
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
		return naming_list_add(&n->kernel, (uint32_t)r->frame.id);
	case RECORD_SAMPLE:
	case RECORD_WOKEN: /* both have stacks */
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

/* Queues unnamed places whose file has been found since, by another path. */
bool naming_look_again(struct namer *n, const struct capture *c)
{
	for (uint32_t i = 1; i < n->n_placed; i++) {
		const struct capture_place *p = &c->places[i];
		struct file_state *f;

		if (is_named(n->answers[i].source))
			continue;
		f = p->file ? naming_file(n, p->file) : NULL;
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
