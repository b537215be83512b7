#include "cmd/cprof-record/lang/runtimes.h"

#include <string.h>
#include <sys/epoll.h>

#include "cmd/cprof-record/host/host.h"
#include "common/stream/record.h"

_Static_assert((int)LANG_KINDS == (int)LANGUAGES && (int)LANG_PYTHON == (int)LANGUAGE_PYTHON &&
		       (int)LANG_RUBY == (int)LANGUAGE_RUBY && (int)LANG_PHP == (int)LANGUAGE_PHP &&
		       (int)LANG_PERL == (int)LANGUAGE_PERL &&
		       (int)LANG_JAVASCRIPT == (int)LANGUAGE_JAVASCRIPT && (int)LANG_JAVA == (int)LANGUAGE_JAVA,
	       "languages have the same numbers in images and in the stream");
_Static_assert((int)LANG_STATE_UNREADABLE == (int)LANG_UNREADABLE &&
		       (int)LANG_STATE_OVER_BUDGET == (int)LANG_OVER_BUDGET &&
		       (int)LANG_STATE_DEPTH == (int)LANG_DEPTH,
	       "and so have states");
_Static_assert((int)LANG_FLAG_TOP_LEVEL == (int)FUNCTION_TOP_LEVEL &&
		       (int)LANG_FLAG_BUILTIN == (int)FUNCTION_BUILTIN &&
		       (int)LANG_FLAG_EVAL == (int)FUNCTION_EVAL,
	       "and flags of functions");

void runtimes_init(struct runtimes *r)
{
	script_functions_init(&r->functions);
	lang_codes_init(&r->codes, r->images);
}

void runtimes_release(struct runtimes *r)
{
	script_functions_release(&r->functions);
	lang_codes_release(&r->codes);
	java_procs_free(r->java);
	buf_release(&r->complaint);
}

static void publish_image(struct runtimes *r, uint32_t i)
{
	if (!r->published[i] && r->images[i].usable && r->options->languages >> r->images[i].language & 1)
		r->published[i] = bpf_lang_image(r->bpf, i, &r->images[i], &r->complaint);
}

/*
 * Interpreters and their libraries are asked for at once:
 * a short program may end before a stack needs their table.
 */
static enum lang_kind language_by_name(struct slice path)
{
	struct slice base = slice_base(path);

	if (slice_begins(base, "lib"))
		base = (struct slice){ base.p + 3, base.n - 3 };
	for (unsigned int i = LANG_NONE + 1; i < LANG_KINDS; i++) {
		if (slice_begins(base, language_name(i)))
			return i;
	}
	if (slice_is(base, "jvm.so"))
		return LANG_JAVA;
	return slice_begins(base, "node") ? LANG_JAVASCRIPT : LANG_NONE;
}

static void ask_early(struct runtimes *r, struct proc *p, const struct map *m)
{
	const struct exe *x = m->file ? &r->procs->exes[m->file - 1] : NULL;
	enum lang_kind language = x && x->table == 0 ? language_by_name(x->path) : LANG_NONE;

	if (language == LANG_NONE || !targets_has(r->targets, r->options, p->pid) ||
	    !table_cache_number(r->tables, m->file - 1))
		return;
	table_cache_prefer(r->tables, x->table);
	table_cache_want(r->tables, p, m, host_mono_ns());
	r->expected |= 1u << language;
}

/* Loads the programs of expected languages while a worker reads their file: each takes some 15 ms. */
static void load_expected(struct runtimes *r)
{
	bool reading = false;

	for (size_t i = 0; i < TABLE_CACHE_WORKERS; i++)
		reading = reading || r->tables->workers[i].owner >= 0;
	for (unsigned int i = LANG_NONE + 1; reading && i < LANG_KINDS; i++) {
		if (r->expected & r->options->languages & 1u << i)
			bpf_lang_load(r->bpf, i, &r->complaint);
	}
	if (reading)
		r->expected = 0;
}

/* Without memory or descriptors for it, processes of Java have states instead of frames. */
static void begin_java(struct runtimes *r)
{
	r->java = java_procs_new(r->bpf);
	if (r->java)
		epoll_ctl(r->epoll, EPOLL_CTL_ADD, java_procs_fd(r->java),
			  &(struct epoll_event){ EPOLLIN, { .fd = java_procs_fd(r->java) } });
}

/* V8 maps a part of its code once more, near the code that it compiles: this says nothing of the rest. */
static bool is_copy(const struct lang_image *im, const struct map *m)
{
	return im->language == LANG_JAVASCRIPT &&
	       (im->text_offset < m->offset || im->text_offset - m->offset >= m->end - m->start);
}

void runtimes_mapped(struct runtimes *r, struct proc *p, const struct map *m)
{
	uint32_t image = m->file ? r->procs->exes[m->file - 1].image : 0;
	const struct lang_image *im;
	struct lang_proc proc;

	if (!image) {
		ask_early(r, p, m);
		return;
	}
	im = &r->images[image - 1];
	proc = (struct lang_proc){ .image = image - 1,
				   .learn = 1,
				   .bias = m->start - m->offset + im->text_offset - im->text };
	if ((p->lang.image == image && p->lang.bias == proc.bias) || is_copy(im, m))
		return;
	p->lang = (struct proc_lang){ image, proc.bias, 0 };
	if (!r->published[image - 1])
		return;
	p->lang.since = host_mono_ns();
	if (p->dead || procs_find(r->procs, p->pid) != p)
		return;
	bpf_lang_proc(r->bpf, p->pid, &proc);
	if (lang_is_walked(im->language))
		user_walk_language(r->user_walk, p, im->language);
	if (im->language == LANG_JAVA && !r->java)
		begin_java(r);
	if (im->language == LANG_JAVA && r->java)
		java_procs_add(r->java, p, im, proc.bias);
}

static void find_users(struct runtimes *r, struct proc *p, uint32_t exe)
{
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		if (m->file == exe + 1)
			runtimes_mapped(r, p, m);
	}
}

void runtimes_found(void *runtimes, uint32_t exe, const struct lang_image *image)
{
	struct runtimes *r = runtimes;
	struct exe *x = &r->procs->exes[exe];
	uint32_t i = runtimes_add_image(r, image, r->tables->items[x->table].owner);

	if (i == LANG_IMAGES) {
		if (r->refused++ == 0)
			buf_printf(&r->complaint,
				   "%.*s: more than %d interpreters run, or %d of one owner: "
				   "functions of further ones are missing",
				   (int)x->path.n, (const char *)x->path.p, LANG_IMAGES, RUNTIMES_OF_ONE);
		x->late = true;
		return;
	}
	x->image = i + 1;
	publish_image(r, i);
	for (size_t k = 0; k < r->procs->n; k++)
		find_users(r, r->procs->items[k], exe);
}

/* The program copies the parent's entry at fork, but a fork may be older than that entry. */
void runtimes_forked(struct runtimes *r, const struct proc *parent, struct proc *child)
{
	struct lang_proc proc = { .image = parent->lang.image - 1, .learn = 1, .bias = parent->lang.bias };

	child->lang = parent->lang;
	if (!parent->lang.since || child->time > parent->lang.since)
		return;
	child->lang.since = host_mono_ns();
	if (!child->dead && procs_find(r->procs, child->pid) == child)
		bpf_lang_proc(r->bpf, child->pid, &proc);
	if (r->java)
		java_procs_forked(r->java, parent, child);
}

void runtimes_gone(struct runtimes *r, const struct proc *p)
{
	/* Even if it is not known here: the program copies entries at fork. */
	if (procs_find(r->procs, p->pid) == p)
		bpf_lang_proc(r->bpf, p->pid, NULL);
	if (r->java)
		java_procs_gone(r->java, p);
}

/* Is it one of Node.js's own scripts? The name comes in pieces. */
static bool is_built_in(const struct lang_function *f)
{
	return f->path_text == LANG_PIECES && f->path_n > 7 && memcmp(f->path + 2, "node:", 5) == 0;
}

/*
 * Finds where the text of a script is in the interpreter's file, as linked. With width 0, the text is there,
 * but its address is not known: up to Node.js 18, V8 may have a copy of the text.
 */
static struct script_place find_place(const struct runtimes *r, const struct lang_function *f)
{
	bool known = f->text && f->text >= f->bias && (f->width == 1 || f->width == 2);

	if (f->language != LANG_JAVASCRIPT || (!known && !is_built_in(f)))
		return (struct script_place){ 0 };
	for (uint32_t i = 0; i < r->procs->n_exes; i++) {
		if (r->procs->exes[i].image == f->image + 1)
			return (struct script_place){ i + 1, known ? f->width : 0, f->image + 1,
						      known ? f->text - f->bias : 0 };
	}
	return (struct script_place){ 0 };
}

static void take_function(void *runtimes, const struct lang_function *f)
{
	struct runtimes *r = runtimes;

	script_functions_take(&r->functions, f, find_place(r, f));
}

static void take_code(void *runtimes, const struct lang_code *code)
{
	struct runtimes *r = runtimes;

	lang_codes_take(&r->codes, code);
}

bool runtimes_full(const struct runtimes *r)
{
	return r->crowded || script_functions_full(&r->functions) || lang_codes_full(&r->codes);
}

void runtimes_restart(struct runtimes *r)
{
	script_functions_clear(&r->functions);
	lang_codes_clear(&r->codes);
	runtimes_free_images(r, host_mono_ns());
	bpf_lang_restart(r->bpf);
	if (r->java)
		java_procs_restart(r->java);
}

void runtimes_drain(struct runtimes *r)
{
	int ring = bpf_lang_ring(r->bpf);

	if (r->expected)
		load_expected(r);
	if (ring >= 0 && !r->watched) {
		epoll_ctl(r->epoll, EPOLL_CTL_ADD, ring,
			  &(struct epoll_event){ EPOLLIN | EPOLLET, { .fd = ring } });
		r->watched = true;
	}
	bpf_lang_drain(r->bpf, take_function, take_code, r);
	if (r->java)
		java_procs_step(r->java, host_mono_ns(), &r->complaint);
}

bool runtimes_is_memory(const struct proc *p, uint64_t address)
{
	const struct map *map = maps_find(&p->maps, stack_run_address(address));

	return map && !map->file;
}

enum lang_state runtimes_missing_state(const struct runtimes *r, const struct proc *p, uint64_t time)
{
	enum lang_state state;

	if (!r->images[p->lang.image - 1].usable)
		return r->images[p->lang.image - 1].version ? LANG_UNSUPPORTED : LANG_NO_METADATA;
	if (r->java && r->images[p->lang.image - 1].language == LANG_JAVA) {
		state = java_procs_state(r->java, p, time);
		if (state != LANG_OK)
			return state;
	}
	return !p->lang.since || time < p->lang.since ? LANG_NOT_YET : LANG_UNREADABLE;
}
