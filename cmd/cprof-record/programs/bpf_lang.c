#include "cmd/cprof-record/programs/bpf_lang.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/lang_event.skel.h"
#include "bpf/lang_javascript_event.skel.h"
#include "bpf/lang_javascript_tick.skel.h"
#include "bpf/lang_java_event.skel.h"
#include "bpf/lang_java_tick.skel.h"
#include "bpf/lang_procs.skel.h"
#include "bpf/lang_tick.skel.h"
#include "bpf/sample.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/programs/bpf_beside.h"
#include "cmd/cprof-record/programs/bpf_clear.h"
#include "common/stream/record.h"

enum { STEPS_MOST = 1 << 16 /* in a map that changes meanwhile: four times the entries of the largest */ };

/* An object that is loaded for one of its programs. */
struct loaded {
	struct bpf_object *object;
	void *skeleton;
	void (*destroy)(void *skeleton);
};

struct hook {
	struct bpf_lang_hook is;
	struct loaded find, walks[LANG_KINDS];
};

struct bpf_lang {
	const struct options *o;
	struct sample_bpf *sample;
	struct hook hooks[BPF_LANG_HOOKS];
	size_t n;
	struct bpf_lang_calls calls; /* ring NULL: there are no call probes */
	struct lang_procs_bpf *procs; /* NULL: the side-band tells of exec and fork */
	struct ring_buffer *ring;     /* NULL: nothing is loaded */
	bool failed[LANG_KINDS];      /* loading was tried; 0: of the maps */
	uint32_t epoch;		      /* lang_image.epoch of published images */
	bpf_lang_fn *take;
	bpf_lang_code_fn *take_code;
	void *arg;
};

/* Offsets in the kernel's structures. */
struct places {
	uint32_t fsbase, mm, auxv, tgid, exe, code, f_inode, i_ino, i_sb, s_dev;
};

/* The maps that all objects share; the first one that is loaded owns them. */
static const char *const own_maps[] = { "lang_images", "lang_procs", "lang_functions", "lang_ring",
					"lang_files" };
/* Maps of the walk, which only the languages use whose frames are machine frames. */
static const char *const walk_maps[] = {
	"rules", "pages", "files", "row_shards", "mapping_shards", "spaces"
};

static bool find_places(struct places *p)
{
	struct btf_place auxv = { "mm_struct", "saved_auxv", 0 };
	struct btf_place thread[] = { { "task_struct", "thread", 0 }, { "thread_struct", "fsbase", 0 } };
	struct btf_place exec[] = { { "task_struct", "mm", 0 },	    { "task_struct", "tgid", 0 },
				    { "mm_struct", "exe_file", 0 }, { "mm_struct", "start_code", 0 },
				    { "file", "f_inode", 0 },	    { "inode", "i_ino", 0 },
				    { "inode", "i_sb", 0 },	    { "super_block", "s_dev", 0 } };

	if (!btf_find(BTF_KERNEL, thread, 2))
		return false;
	p->fsbase = thread[0].at + thread[1].at;
	if (btf_find(BTF_KERNEL, exec, 8)) {
		p->mm = exec[0].at;
		p->tgid = exec[1].at;
		p->exe = exec[2].at;
		p->code = exec[3].at;
		p->f_inode = exec[4].at;
		p->i_ino = exec[5].at;
		p->i_sb = exec[6].at;
		p->s_dev = exec[7].at;
	}
	if (btf_find(BTF_KERNEL, &auxv, 1))
		p->auxv = auxv.at;
	return true;
}

struct bpf_lang *bpf_lang_new(const struct options *o, struct sample_bpf *sample)
{
	struct bpf_lang *l = calloc(1, sizeof(*l));

	if (l) {
		l->o = o;
		l->sample = sample;
	}
	return l;
}

static void unload(struct loaded *b)
{
	if (b->destroy)
		b->destroy(b->skeleton);
	*b = (struct loaded){ 0 };
}

void bpf_lang_free(struct bpf_lang *l)
{
	if (!l)
		return;
	ring_buffer__free(l->ring);
	lang_procs_bpf__destroy(l->procs);
	for (size_t i = l->n; i-- > 0;) {
		for (size_t k = 0; k < LANG_KINDS; k++)
			unload(&l->hooks[i].walks[k]);
		unload(&l->hooks[i].find);
	}
	free(l);
}

void bpf_lang_add_hook(struct bpf_lang *l, const struct bpf_lang_hook *hook)
{
	if (l->n < BPF_LANG_HOOKS)
		l->hooks[l->n++].is = *hook;
}

static bool set_call(const struct bpf_map *calls, uint32_t call, const struct bpf_program *program)
{
	int fd = bpf_program__fd(program);

	return bpf_map_update_elem(bpf_map__fd(calls), &call, &fd, BPF_ANY) == 0;
}

bool bpf_lang_finish(struct bpf_map *calls, uint32_t event, const struct bpf_program *program)
{
	return set_call(calls, CALL_FINISH + event, program);
}

static struct bpf_map *map_named(const struct loaded *b, const char *name)
{
	return bpf_object__find_map_by_name(b->object, name);
}

/* The program of a language; 0: the one that finds the language of a process. */
static struct bpf_program *program_of(const struct bpf_lang *l, const struct loaded *b, uint32_t language)
{
	const char *find = l->calls.ring ? "usdt_find" : "lang_find";
	char name[32];

	snprintf(name, sizeof(name), "walk_%s", language_name(language));
	return bpf_object__find_program_by_name(b->object, language == LANG_NONE ? find : name);
}

static bool reuse(struct bpf_map *own, const struct bpf_map *its)
{
	return own && its && bpf_map__reuse_fd(own, bpf_map__fd(its)) == 0;
}

/* Only the program that finds languages reads the stacks of call probes. */
static bool share_calls(const struct bpf_lang *l, const struct hook *h, const struct loaded *b)
{
	struct bpf_map *threads = map_named(b, "usdt_threads"), *stacks = map_named(b, "usdt_stacks");

	if (!threads || !stacks)
		return true;
	if (!l->calls.ring || b != &h->find)
		return bpf_map__set_autocreate(threads, false) == 0 &&
		       bpf_map__set_autocreate(stacks, false) == 0;
	return reuse(threads, l->calls.threads) && reuse(stacks, l->calls.stacks) &&
	       (h != l->hooks || reuse(map_named(b, "lang_ring"), l->calls.ring));
}

static bool share_walk_maps(const struct bpf_lang *l, const struct loaded *b, uint32_t language)
{
	bool good = true;

	for (size_t i = 0; good && i < sizeof(walk_maps) / sizeof(walk_maps[0]); i++) {
		struct bpf_map *own = map_named(b, walk_maps[i]);

		if (own && lang_is_walked(language))
			good = reuse(own, bpf_object__find_map_by_name(l->sample->obj, walk_maps[i]));
		else if (own)
			good = bpf_map__set_autocreate(own, false) == 0;
	}
	return good;
}

/* Maps that the language alone has are those of the first hook; but a CPU's state is one for each hook. */
static bool share_language_maps(const struct loaded *b, const struct loaded *first)
{
	bool good = true;
	struct bpf_map *own;

	bpf_object__for_each_map(own, b->object) {
		struct bpf_map *its = map_named(first, bpf_map__name(own));

		if (good && !bpf_map__is_internal(own) && its && bpf_map__fd(own) < 0 && bpf_map__autocreate(own) &&
		    bpf_map__type(own) != BPF_MAP_TYPE_PERCPU_ARRAY)
			good = reuse(own, its);
	}
	return good;
}

static bool share_maps(const struct bpf_lang *l, const struct hook *h, const struct loaded *b, uint32_t language)
{
	const struct loaded *first = &l->hooks[0].find;
	bool good = reuse(map_named(b, "calls"), h->is.calls) &&
		    reuse(map_named(b, h == l->hooks ? "percpu_rings" : "scratches"), h->is.data) &&
		    reuse(map_named(b, h == l->hooks ? "waker" : "ring"), h->is.ring) &&
		    share_walk_maps(l, b, language);

	for (size_t i = 0; good && b != first && i < sizeof(own_maps) / sizeof(own_maps[0]); i++) {
		struct bpf_map *own = map_named(b, own_maps[i]);

		good = !own || reuse(own, map_named(first, own_maps[i]));
	}
	if (good && b != &h->find) /* the walks of a hook share their state with its lang_find */
		good = reuse(map_named(b, "lang_walks"), map_named(&h->find, "lang_walks"));
	if (good)
		good = share_calls(l, h, b);
	if (good && h != l->hooks && language != LANG_NONE)
		good = share_language_maps(b, &l->hooks[0].walks[language]);
	return good;
}

#define set_places(data, at)                        \
	do {                                        \
		(data)->mm_at = (at)->mm;           \
		(data)->exe_at = (at)->exe;         \
		(data)->code_at = (at)->code;       \
		(data)->f_inode_at = (at)->f_inode; \
		(data)->i_ino_at = (at)->i_ino;     \
		(data)->i_sb_at = (at)->i_sb;       \
		(data)->s_dev_at = (at)->s_dev;     \
	} while (0)

struct walk_settings {
	const struct places *at;
	uint32_t depth, stack_limit, percpu_bytes, id_first, id_step;
};

/* Each skeleton has its own type. */
#define set_walk(data, s)                                  \
	do {                                               \
		set_places(data, (s)->at);                 \
		(data)->exec_known = (s)->at->i_sb != 0;   \
		(data)->auxv_at = (s)->at->auxv;           \
		(data)->fsbase_at = (s)->at->fsbase;       \
		(data)->user_depth = (s)->depth;           \
		(data)->stack_limit = (s)->stack_limit;    \
		(data)->id_first = (s)->id_first;          \
		(data)->id_step = (s)->id_step;            \
	} while (0)

uint32_t bpf_lang_ids(uint32_t *first)
{
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();

	*first = cpus * BPF_LANG_HOOKS;
	return cpus * (BPF_LANG_HOOKS + 1);
}

#define OBJECT(name, set_more)                                                     \
	static void destroy_##name(void *skeleton)                                 \
	{                                                                          \
		name##_bpf__destroy(skeleton);                                     \
	}                                                                          \
                                                                                   \
	static bool open_##name(struct loaded *b, const struct walk_settings *s)   \
	{                                                                          \
		struct name##_bpf *skeleton = name##_bpf__open();                  \
                                                                                   \
		if (!skeleton)                                                     \
			return false;                                              \
		*b = (struct loaded){ skeleton->obj, skeleton, destroy_##name };   \
		set_walk(skeleton->rodata, s);                                     \
		set_more(skeleton->rodata, s);                                     \
		return true;                                                       \
	}

#define set_percpu(data, s) ((data)->percpu_bytes = (s)->percpu_bytes)
#define set_nothing(data, s) ((void)0)

OBJECT(lang_tick, set_percpu)
OBJECT(lang_event, set_nothing)
OBJECT(lang_javascript_tick, set_percpu)
OBJECT(lang_javascript_event, set_nothing)
OBJECT(lang_java_tick, set_percpu)
OBJECT(lang_java_event, set_nothing)

typedef bool open_fn(struct loaded *b, const struct walk_settings *s);

/* Objects of their own, with a walk: languages whose frames are machine frames. */
static const struct {
	open_fn *tick, *event;
} walked[LANG_KINDS] = {
	[LANG_NONE] = { open_lang_tick, open_lang_event },
	[LANG_JAVASCRIPT] = { open_lang_javascript_tick, open_lang_javascript_event },
	[LANG_JAVA] = { open_lang_java_tick, open_lang_java_event },
};

static bool open_object(const struct bpf_lang *l, const struct hook *h, uint32_t language,
			const struct places *at, struct loaded *b)
{
	unsigned int cpus = (unsigned int)libbpf_num_possible_cpus(), unused;
	struct walk_settings s = { .at = at,
				   .depth = l->o->depth,
				   .stack_limit = h->is.stack_limit,
				   .percpu_bytes = l->o->memory.percpu_ring,
				   .id_first = (unsigned int)(h - l->hooks) * cpus,
				   .id_step = bpf_lang_ids(&unused) };
	uint32_t kind = lang_is_walked(language) ? language : LANG_NONE;
	open_fn *opens = h == l->hooks ? walked[kind].tick : walked[kind].event;

	errno = ENOTSUP;
	return opens && opens(b, &s);
}

/* Chooses the one program of the object, with the type of the program that calls it. */
static bool choose_program(const struct bpf_lang *l, const struct hook *h, const struct loaded *b,
			   uint32_t language)
{
	struct bpf_program *p, *chosen = program_of(l, b, language);

	bpf_object__for_each_program(p, b->object) bpf_program__set_autoload(p, p == chosen);
	if (!chosen) {
		errno = ENOTSUP;
		return false;
	}
	bpf_program__set_type(chosen, bpf_program__type(h->is.program));
	if (!h->is.attached)
		return true;
	bpf_program__set_expected_attach_type(chosen, bpf_program__expected_attach_type(h->is.program));
	return bpf_program__set_attach_target(chosen, 0, h->is.attached) == 0;
}

/* Loads one program, and lets the hook's programs call it. False with errno. */
static bool load_one(const struct bpf_lang *l, struct hook *h, uint32_t language, const struct places *at,
		     struct loaded *b)
{
	int saved;

	if (open_object(l, h, language, at, b) && choose_program(l, h, b, language) &&
	    share_maps(l, h, b, language) &&
	    bpf_object__load(b->object) == 0 &&
	    set_call(h->is.calls, language == LANG_NONE ? CALL_FIND : CALL_LANGUAGE + language,
		     program_of(l, b, language)))
		return true;
	saved = errno;
	unload(b);
	errno = saved;
	return false;
}

/* Without BTF, or rights, the side-band tells instead, later. */
static void load_procs(struct bpf_lang *l, const struct places *at)
{
	if (!at->i_sb)
		return;
	l->procs = lang_procs_bpf__open();
	if (!l->procs)
		return;
	set_places(l->procs->rodata, at);
	l->procs->rodata->tgid_at = at->tgid;
	if (reuse(l->procs->maps.lang_procs, map_named(&l->hooks[0].find, "lang_procs")) &&
	    reuse(l->procs->maps.lang_files, map_named(&l->hooks[0].find, "lang_files")) &&
	    lang_procs_bpf__load(l->procs) == 0 && lang_procs_bpf__attach(l->procs) == 0)
		return;
	lang_procs_bpf__destroy(l->procs);
	l->procs = NULL;
}

static void pass_code(struct bpf_lang *l, const struct lang_code *code, size_t n)
{
	size_t head = offsetof(struct lang_code, bytes);

	if (n >= head && code->n <= n - head && (code->language & ~LANG_RECORD_CODE) < LANG_KINDS)
		l->take_code(l->arg, code);
}

static int take_record(void *arg, void *data, size_t n)
{
	struct bpf_lang *l = arg;
	const struct lang_function *f = data;
	size_t head = offsetof(struct lang_function, lines);

	if (n >= sizeof(f->language) && (f->language & LANG_RECORD_CODE))
		pass_code(l, data, n);
	else if (n >= head && f->table <= n - head && f->name_n <= LANG_NAME && f->class_n <= LANG_NAME &&
	    f->path_n <= LANG_PATH)
		l->take(l->arg, f);
	return 0;
}

static bool load_maps(struct bpf_lang *l, const struct places *at)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!load_one(l, &l->hooks[i], LANG_NONE, at, &l->hooks[i].find))
			return false;
	}
	l->ring = ring_buffer__new(bpf_map__fd(map_named(&l->hooks[0].find, "lang_ring")), take_record, l,
				   NULL);
	if (!l->ring)
		return false;
	load_procs(l, at);
	return true;
}

bool bpf_lang_calls(struct bpf_lang *l, const struct bpf_lang_calls *maps)
{
	struct places at = { 0 };

	l->calls = *maps;
	if (!find_places(&at)) {
		errno = ENOTSUP;
		return false;
	}
	if (!load_maps(l, &at))
		return false;
	l->sample->data->lang_on = 1;
	return true;
}

static bool load_language(struct bpf_lang *l, uint32_t language)
{
	struct places at = { 0 };

	if (l->n == 0 || l->hooks[0].walks[language].object)
		return l->n > 0;
	if (!find_places(&at)) {
		errno = ENOTSUP;
		return false;
	}
	if (!l->ring && !load_maps(l, &at))
		return false;
	for (size_t i = 0; i < l->n; i++) {
		if (!load_one(l, &l->hooks[i], language, &at, &l->hooks[i].walks[language]))
			return false;
	}
	l->sample->data->lang_on = 1;
	l->sample->data->lang_unmet &= ~(1u << language);
	return true;
}

bool bpf_lang_load(struct bpf_lang *l, uint32_t language, struct buf *error)
{
	struct buf why = { 0 };

	if (l->failed[LANG_NONE] || l->failed[language])
		return false;
	errno = 0;
	if (load_language(l, language))
		return true;
	l->failed[language] = true;
	l->failed[LANG_NONE] = !l->ring;
	diagnose_bpf(errno, &why);
	buf_printf(error, "frames of %s are missing: %s", language_name(language), buf_cstr(&why));
	buf_release(&why);
	return false;
}

static int images_fd(const struct bpf_lang *l)
{
	return bpf_map__fd(map_named(&l->hooks[0].find, "lang_images"));
}

bool bpf_lang_image(struct bpf_lang *l, uint32_t index, const struct lang_image *image, struct buf *error)
{
	struct lang_image own = *image;

	own.epoch = l->epoch;
	return bpf_lang_load(l, image->language, error) &&
	       bpf_map_update_elem(images_fd(l), &index, &own, BPF_ANY) == 0;
}

void bpf_lang_proc(struct bpf_lang *l, uint32_t pid, const struct lang_proc *proc)
{
	int fd = l->ring ? bpf_map__fd(map_named(&l->hooks[0].find, "lang_procs")) : -1;
	struct lang_proc own, known;

	if (fd < 0)
		return;
	if (!proc) {
		bpf_map_delete_elem(fd, &pid);
		return;
	}
	own = *proc;
	own.generation = lang_generation(host_mono_ns());
	/* The program has noticed the same at exec or fork, and may have sent functions since. */
	if (bpf_map_lookup_elem(fd, &pid, &known) == 0 && known.image == own.image &&
	    (known.searches || known.bias == own.bias))
		own.generation = known.generation;
	bpf_map_update_elem(fd, &pid, &own, BPF_ANY);
}

/*
 * Removes the entries of all images but these. Values begin with the index of an image: struct lang_proc, and
 * lang_exe of bpf/lang/exe.bpf.h. The programs change the map meanwhile, so the number of steps is limited.
 */
static void keep_entries(const struct bpf_map *map, const bool *images)
{
	uint32_t key[4], next[4], value[16]; /* at least as large as those of the maps */
	int fd = bpf_map__fd(map);
	void *from = NULL;

	_Static_assert(offsetof(struct lang_proc, image) == 0 && sizeof(struct lang_proc) <= sizeof(value),
		       "");
	for (unsigned int n = 0; n < STEPS_MOST && bpf_map_get_next_key(fd, from, next) == 0; n++) {
		if (bpf_map_lookup_elem(fd, next, value) == 0 && value[0] < LANG_IMAGES &&
		    !images[value[0]]) {
			bpf_map_delete_elem(fd, next);
			continue;
		}
		memcpy(key, next, sizeof(key));
		from = key;
	}
}

/* First the files: the programs at exec must not find the others any more. */
void bpf_lang_keep(struct bpf_lang *l, const bool *images)
{
	if (!l->ring)
		return;
	keep_entries(map_named(&l->hooks[0].find, "lang_files"), images);
	keep_entries(map_named(&l->hooks[0].find, "lang_procs"), images);
}

/* Lets the programs forget the ids that a CPU keeps of its own. Those in the map must be gone before. */
static void change_epoch(struct bpf_lang *l)
{
	struct lang_image image;

	l->epoch++;
	for (uint32_t i = 0; i < LANG_IMAGES; i++) {
		if (bpf_map_lookup_elem(images_fd(l), &i, &image) != 0 || !image.usable)
			continue;
		image.epoch = l->epoch;
		bpf_map_update_elem(images_fd(l), &i, &image, BPF_ANY);
	}
}

void bpf_lang_restart(struct bpf_lang *l)
{
	if (l->ring) {
		bpf_clear_map(bpf_map__fd(map_named(&l->hooks[0].find, "lang_functions")));
		change_epoch(l);
	}
	if (l->calls.ring)
		bpf_clear_map(bpf_map__fd(l->calls.functions));
}

int bpf_lang_map(const struct bpf_lang *l, uint32_t language, const char *name)
{
	const struct loaded *b = l->n ? &l->hooks[0].walks[language] : NULL;
	const struct bpf_map *map = b && b->object ? map_named(b, name) : NULL;

	return map ? bpf_map__fd(map) : -1;
}

void bpf_lang_drain(struct bpf_lang *l, bpf_lang_fn *take, bpf_lang_code_fn *take_code, void *arg)
{
	l->take = take;
	l->take_code = take_code;
	l->arg = arg;
	if (l->ring)
		ring_buffer__consume(l->ring);
}

int bpf_lang_ring(const struct bpf_lang *l)
{
	return l->ring ? bpf_map__fd(map_named(&l->hooks[0].find, "lang_ring")) : -1;
}
