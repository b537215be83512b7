#include "common/resolve/modules.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/intern.h"
#include "common/elf/elffile.h"
#include "common/elf/minidebug.h"
#include "common/symbols/symbols.h"
#include "common/locate/finder.h"
#include "common/resolve/modules_internal.h"

enum { BUILD_ID_KEY_LEAST = 8, PROCESSES_MAX = 64 };

static void drop_symbols(struct modules *m, struct module *module)
{
	symbols_free(module->symbols);
	fallback_names_free(module->more);
	inline_chain_close(module->levels);
	module->levels = NULL;
	module->symbols = NULL;
	module->more = NULL;
	m->bytes -= module->bytes;
	module->bytes = 0;
	module->evicted = false;
}

static void unload_module(struct modules *m, struct module *module)
{
	drop_symbols(m, module);
	elf_close(module->file);
	module->file = NULL;
}

static void forget_modules(struct modules *m)
{
	for (size_t i = 0; i < m->n; i++)
		unload_module(m, &m->items[i]);
	free(m->items);
	m->items = NULL;
	m->n = m->cap = m->n_apart = 0;
	m->text_bytes = 0;
	intern_release(&m->texts);
	intern_release(&m->keys);
	intern_release(&m->tried);
}

static void forget_cached(struct modules *m)
{
	if (++m->generation == 0) {
		memset(m->cache, 0, sizeof(*m->cache) << CACHE_BITS);
		m->generation = 1;
	}
}

/* Starts without a module, and with the empty text. */
static bool start_empty(struct modules *m)
{
	uint32_t empty;

	forget_cached(m);
	return intern_add(&m->texts, slice_of(""), &empty);
}

struct modules *modules_new(const struct modules_options *options)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->options = *options;
	m->max = options->max_mem ? options->max_mem : MODULES_KEEP;
	finder_init(&m->finder, options->symfs, options->debug_dirs, options->n_debug_dirs);
	m->finder.debuginfod = options->debuginfod;
	m->cache = calloc((size_t)1 << CACHE_BITS, sizeof(*m->cache));
	if (!m->cache || !start_empty(m)) {
		modules_free(m);
		return NULL;
	}
	return m;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	forget_modules(m);
	free(m->cache);
	buf_release(&m->scratch);
	buf_release(&m->name);
	buf_release(&m->path);
	finder_release(&m->finder);
	free(m);
}

bool modules_tidy(struct modules *m, size_t keep)
{
	if (keep > m->max)
		keep = m->max;
	if (m->bytes + m->text_bytes <= keep)
		return true;
	forget_modules(m);
	return start_empty(m);
}

struct intern *modules_texts(struct modules *m)
{
	return &m->texts;
}

size_t modules_bytes(const struct modules *m)
{
	return m->bytes;
}

size_t modules_count(const struct modules *m)
{
	return m->n;
}

const struct unread *modules_unread(const struct modules *m)
{
	return &m->finder.unread;
}

struct module_state modules_state(const struct modules *m, uint32_t id)
{
	const struct module *module = &m->items[id];

	return (struct module_state){ module->status, module->kind, intern_get(&m->texts, module->path),
				      module->version, module->by_path && module->file };
}

static bool set_path(struct modules *m, struct module *module)
{
	return !m->path.failed && intern_add(&m->texts, buf_view(&m->path), &module->path);
}

/*
 * Adds a debug file's symbols. If it stands in for the runtime file, it adds exported ones, too. From an
 * archive, its .symtab may be the runtime file's own.
 */
static long add_separate(struct module *module, const struct elf_file *debug)
{
	bool own = debug->archived & ARCHIVED_OWN;
	long n = symbols_add(module->symbols, debug, SYMBOLS_SYMTAB | (own ? 0 : SYMBOLS_SEPARATE));

	return n >= 0 && !module->file && symbols_add(module->symbols, debug, SYMBOLS_DYNAMIC) < 0 ? -1 : n;
}

/* Adds the compressed symbols in the file itself, if no debug file was found. */
static bool add_minidebug(struct module *module)
{
	struct elf_file *mini;
	bool good;

	if (!module->file)
		return true;
	good = minidebug_open(module->file, &mini);
	if (mini)
		good = symbols_add(module->symbols, mini, SYMBOLS_SYMTAB | SYMBOLS_MINIDEBUG) >= 0;
	elf_close(mini);
	return good;
}

static void was_opened(struct modules *m, struct module *module, const struct buf *path)
{
	buf_clear(&m->path);
	buf_bytes(&m->path, path->p, path->n);
	module->status = SOURCE_OK;
}

/* Adds the symbols of the first debug file that has some; that file stands in for a missing runtime file. */
static bool add_debug(struct modules *m, struct module *module, const struct module_identity *is)
{
	struct buf opened = { 0 };
	struct elf_file *debug, *bare = NULL;
	size_t step = 0;
	bool good = true, found = false;

	while (good && !found && (debug = finder_debug(&m->finder, &step, module->file, is, &opened))) {
		long n = add_separate(module, debug);
		bool stands_in = !module->file && (n > 0 || (debug->archived & ARCHIVED_NAMES));

		good = n >= 0;
		found = n > 0;
		if (found || stands_in)
			was_opened(m, module, &opened);
		if (stands_in) {
			module->file = debug;
			module->lost_offsets = elf_lost_offsets(debug);
		} else if (good && !module->file && !bare && !elf_lost_offsets(debug)) {
			bare = debug;
			was_opened(m, module, &opened);
		} else {
			elf_close(debug);
		}
	}
	/* The file itself, found by its build ID: its exported names are better than nothing. */
	if (good && !module->file)
		module->file = bare;
	else
		elf_close(bare);
	if (!module->file && m->finder.cut.n && finder_worse(module->status, SOURCE_DAMAGED) == SOURCE_DAMAGED) {
		was_opened(m, module, &m->finder.cut);
		module->status = SOURCE_DAMAGED;
	}
	buf_release(&opened);
	return good && (found || add_minidebug(module));
}

static enum name_source best_kind(const struct symbols *t, const struct fallback_names *more)
{
	return symbols_has(t, ORIGIN_DEBUG)    ? NAME_DEBUG :
	       symbols_has(t, ORIGIN_SYMTAB) ? NAME_SYMTAB :
	       fallback_names_kind(more) == NAME_GO ? NAME_GO :
	       symbols_has(t, ORIGIN_MINIDEBUG) ? NAME_MINIDEBUG :
	       symbols_has(t, ORIGIN_PLT) && !symbols_has(t, ORIGIN_DYNSYM) ? NAME_PLT :
	       symbols_has(t, ORIGIN_DYNSYM) ? NAME_DYNSYM : fallback_names_kind(more);
}

static enum source_status open_module(struct modules *m, struct module *module, const struct module_identity *is)
{
	if (is->image.n) {
		buf_clear(&m->path);
		buf_bytes(&m->path, is->path.p, is->path.n);
		return elf_open_bytes(is->image, &module->file) == ELF_OPENED ? SOURCE_OK : SOURCE_DAMAGED;
	}
	return finder_open(&m->finder, is, &module->file, &m->path, &module->by_path);
}

void modules_damaged(struct modules *m, struct module *module)
{
	drop_symbols(m, module);
	module->status = SOURCE_DAMAGED;
}

static int by_use(const void *a, const void *b)
{
	const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/*
 * Evicts the least recently used other modules until the rest is small enough. Each search among all modules
 * frees an eighth of the limit, so that millions of small modules need few searches. None is made if the
 * wanted module was the only one left by the last search, however large it is.
 */
static void make_room(struct modules *m, const struct module *wanted)
{
	struct module **others;
	size_t n = 0, i = 0;

	if (m->bytes <= m->max || m->alone == (size_t)(wanted - m->items) + 1)
		return;
	others = malloc(m->n * sizeof(struct module *));
	for (size_t k = 0; others && k < m->n; k++) {
		struct module *module = &m->items[k];

		/* An image is lent only for the first load; it is small. */
		if (module->symbols && module != wanted && !module->has_image)
			others[n++] = module;
	}
	if (n)
		qsort(others, n, sizeof(struct module *), by_use);
	for (; i < n && m->bytes > m->max - m->max / 8; i++) {
		drop_symbols(m, others[i]);
		others[i]->evicted = true;
	}
	m->alone = others && i == n ? (size_t)(wanted - m->items) + 1 : 0;
	free(others);
}

/* Updates the module's size: levels grow with use. */
static void weigh_module(struct modules *m, struct module *module)
{
	m->bytes -= module->bytes;
	module->bytes = symbols_bytes(module->symbols) + fallback_names_bytes(module->more) + inline_chain_bytes(module->levels);
	m->bytes += module->bytes;
}

/* Opens the file again and checks that it is the same: by its build ID and trust, else by its stamp. */
static enum source_status open_again(struct modules *m, struct module *module, const struct module_identity *is)
{
	enum source_status status = open_module(m, module, is);
	bool known = module->stamp && !is->build_id.n && !is->image.n;

	if (module->file && known && module->file->stamp != module->stamp) {
		elf_close(module->file);
		module->file = NULL;
		return SOURCE_CHANGED;
	}
	if (!module->file || !is->build_id.n || is->image.n || finder_trusts(&m->finder, module->file)) {
		module->doubtful = false;
	} else if (!module->doubtful) {
		elf_close(module->file);
		module->file = NULL;
		m->finder.doubtful = false; /* because it is not used */
		return SOURCE_MISMATCH;
	}
	if (module->file)
		module->stamp = module->file->stamp;
	return status;
}

/* A truncated file has no section headers: it only looks stripped. This check is not for archived files. */
static bool is_cut(const struct module *module)
{
	return module->file && !module->file->archived && !elf_is_whole(module->file);
}

static bool open_levels(struct modules *m, struct module *module)
{
	struct inline_chain_options o = { &m->finder, m->options.levels, m->max / 2 };

	return inline_chain_open(&o, module->file, &module->is, buf_view(&m->path), fallback_names_go(module->more), &module->levels);
}

/* Opens the file, reads its tables and closes it. Returns false if out of memory. */
static bool load_module(struct modules *m, struct module *module)
{
	const struct module_identity *is = &module->is;
	long n = 0;
	bool bare;

	unload_module(m, module);
	m->alone = 0;
	module->symbols = symbols_new();
	if (!module->symbols)
		return false;
	module->status = open_again(m, module, is);
	if (module->file) {
		n = symbols_add(module->symbols, module->file, SYMBOLS_SYMTAB);
		if (n < 0 || symbols_add(module->symbols, module->file, SYMBOLS_DYNAMIC) < 0)
			return false;
	}
	if (n == 0 && !is->image.n && !add_debug(m, module, is))
		return false;
	if (!symbols_settle(module->symbols) || !set_path(m, module))
		return false;
	bare = !symbols_has(module->symbols, ORIGIN_SYMTAB) && !symbols_has(module->symbols, ORIGIN_DEBUG);
	if (module->file && !fallback_names_open(module->file, bare, &module->more))
		return false;
	module->kind = best_kind(module->symbols, module->more);
	if (module->status == SOURCE_OK && (module->kind == NAME_NONE || module->kind == NAME_BOUNDS))
		module->status = is_cut(module) ? SOURCE_DAMAGED : SOURCE_STRIPPED;
	if (m->options.levels && module->file && !is->image.n && !open_levels(m, module))
		return false;
	if (module->file)
		elf_settle(module->file);
	weigh_module(m, module);
	if (symbols_damaged(module->symbols))
		modules_damaged(m, module);
	make_room(m, module);
	return true;
}

/* Loads an evicted module again. */
static bool load_again(struct modules *m, struct module *module)
{
	enum source_status before = module->status;

	if (!load_module(m, module))
		return false;
	if (module->status != before)
		forget_cached(m);
	return true;
}

/* Appends the identity of a file. */
static void write_file(struct buf *key, const struct module_identity *is, uint64_t seen)
{
	buf_printf(key, "file %llx:%llx %llx %llx %x %llx ", (unsigned long long)is->dev_major,
		   (unsigned long long)is->dev_minor, (unsigned long long)is->inode,
		   (unsigned long long)is->generation, (unsigned int)is->host, (unsigned long long)seen);
	buf_bytes(key, is->path.p, is->path.n);
}

/* Writes the key that identifies a module. */
static void write_key(struct buf *key, const struct module_identity *is)
{
	buf_clear(key);
	if (is->image.n) {
		buf_printf(key, "image %016llx", (unsigned long long)hash_bytes(is->image.p, is->image.n));
	} else if (is->build_id.n >= BUILD_ID_KEY_LEAST) {
		buf_text(key, "build ");
		buf_bytes(key, is->build_id.p, is->build_id.n);
	} else {
		write_file(key, is, is->host == HOST_OTHER || !is->inode ? 0 : is->seen);
	}
}

/* Writes the key of a doubtful file's module. */
static void write_own_key(struct buf *key, const struct module_identity *is)
{
	buf_clear(key);
	buf_printf(key, "own %zu ", is->build_id.n);
	buf_bytes(key, is->build_id.p, is->build_id.n);
	write_file(key, is, 0);
}

/*
 * Returns true if a file that was not found should be looked up as this process sees it: once for each live
 * process. tried: the number of its identity and path, which may be long.
 */
static bool is_for_process(struct modules *m, const struct module *module, const struct module_identity *is,
			   uint32_t tried)
{
	size_t n = m->tried.n;
	uint32_t dummy;

	if (is->host != HOST_BOOT || !is->user.pid || (module->version && module->status == SOURCE_OK) ||
	    module->version > PROCESSES_MAX)
		return false;
	buf_clear(&m->scratch);
	buf_printf(&m->scratch, "%u of %llu %llu", (unsigned int)tried, (unsigned long long)is->user.pid,
		   (unsigned long long)is->user.start);
	m->scratch.failed |= !intern_add(&m->tried, buf_view(&m->scratch), &dummy);
	return m->tried.n > n && finder_may_retry(is, module->status);
}

static bool keep_slice(struct modules *m, struct slice *s)
{
	uint32_t text;

	if (!intern_add(&m->texts, *s, &text))
		return false;
	*s = intern_get(&m->texts, text);
	return true;
}

/* Loads a module for the first time, or by another path if it was not found before. */
static bool load_first(struct modules *m, struct module *module, const struct module_identity *is)
{
	enum source_status was = module->version ? module->status : SOURCE_NO_FILE;
	uint32_t path = module->path;
	bool good;

	module->is = *is;
	module->doubtful = true;
	module->has_image = is->image.n > 0;
	if (!keep_slice(m, &module->is.build_id) || !keep_slice(m, &module->is.path) ||
	    !keep_slice(m, &module->is.user.cgroup))
		return false;
	if (module->version++)
		forget_cached(m);
	module->stamp = 0;
	good = load_module(m, module);
	module->is.image = (struct slice){ NULL, 0 };
	/* The earlier result may say more. */
	if (!module->doubtful && finder_worse(module->status, was) != module->status) {
		module->status = was;
		module->path = path;
	}
	return good;
}

/* Finds the module of a doubtful file. */
static bool find_apart(struct modules *m, const struct module_identity *is, uint32_t *id)
{
	if (m->n_apart == 0 || is->build_id.n == 0 || is->image.n)
		return false;
	write_own_key(&m->scratch, is);
	return !m->scratch.failed && intern_find(&m->keys, buf_view(&m->scratch), id);
}

/*
 * Moves a loaded file to a module of its own: anybody can copy a build ID into a file, which must not name
 * the frames of the file that had it first. That one is still to be found, and the shared module gets back
 * its earlier contents.
 */
static bool set_apart(struct modules *m, const struct module_identity *is, struct module *before,
		      uint32_t *id)
{
	uint32_t shared = *id;

	write_own_key(&m->scratch, is);
	if (m->scratch.failed || !intern_add(&m->keys, buf_view(&m->scratch), id) ||
	    !grow_array(&m->items, &m->cap, *id, sizeof(*m->items)))
		return false;
	if (*id >= m->n)
		m->n = *id + 1;
	m->n_apart++;
	m->items[*id] = m->items[shared];
	if (!before->version)
		*before = (struct module){ .status = SOURCE_NO_FILE, .path = m->items[*id].path,
					   .version = 1 };
	m->items[shared] = *before;
	m->items[shared].vacated = true;
	*before = (struct module){ 0 };
	return true;
}

/* Loads a module for the first time or by another path, and sets a doubtful file apart. */
static bool load_new(struct modules *m, const struct module_identity *is, uint32_t *id)
{
	struct module *module = &m->items[*id], before = *module;
	bool good;

	module->file = NULL;
	module->symbols = NULL;
	module->more = NULL;
	module->levels = NULL;
	module->bytes = 0;
	good = load_first(m, module, is) && (!module->doubtful || set_apart(m, is, &before, id));
	m->alone = 0; /* the module may have moved */
	unload_module(m, &before);
	return good;
}

bool modules_get(struct modules *m, const struct module_identity *identity, uint32_t *id)
{
	struct module_identity is = *identity;
	size_t n_tried = m->tried.n;
	struct module *module;
	bool retry, is_new;
	uint32_t tried;

	if (is.build_id.n < BUILD_ID_KEY_LEAST)
		is.build_id.n = 0; /* too short to tell builds apart */
	if (find_apart(m, &is, id))
		return true;
	write_key(&m->scratch, &is);
	if (m->scratch.failed || !intern_add(&m->keys, buf_view(&m->scratch), id))
		return false;
	if (!grow_array(&m->items, &m->cap, *id, sizeof(*m->items)))
		return false;
	if (*id >= m->n)
		m->n = *id + 1;
	module = &m->items[*id];
	if (module->vacated)
		write_file(&m->scratch, &is, 0);
	else
		buf_bytes(&m->scratch, is.path.p, is.path.n);
	if (m->scratch.failed || !intern_add(&m->tried, buf_view(&m->scratch), &tried))
		return false;
	/* The same build may still exist under another path, or in another process. */
	is_new = m->tried.n > n_tried;
	retry = is_for_process(m, module, &is, tried);
	if ((!is_new && !retry) || (module->version && module->status == SOURCE_OK))
		return !m->scratch.failed;
	return load_new(m, &is, id);
}

bool modules_wake(struct modules *m, struct module *module)
{
	if (module->evicted && !load_again(m, module))
		return false;
	module->used = ++m->clock;
	return true;
}

void modules_weigh(struct modules *m, struct module *module)
{
	weigh_module(m, module);
	make_room(m, module);
}
