#include "common/resolve/modules.h"

#include <stdlib.h>

#include "common/elf/elffile.h"
#include "common/elf/minidebug.h"
#include "common/elf/symbols.h"
#include "common/resolve/finder.h"
#include "common/resolve/more.h"

enum { CACHE_BITS = 12, BUILD_ID_KEY_LEAST = 8 };

struct module {
	struct elf_file *file; /* for its segments */
	struct symbols *symbols;
	struct more *more; /* names that are no symbols; NULL: it has none */
	enum source_status status;
	enum name_source kind;
	uint32_t path; /* text */
	uint32_t recorded; /* its path as the process knew it: text */
	uint32_t version;
	bool lost_offsets, by_path;
};

/* What a (module, address) came to: the hot path, before any search. */
struct cached {
	uint64_t vaddr;
	uint32_t module; /* + 1 */
	uint32_t symbol;
};

struct modules {
	struct modules_options options;
	struct finder finder;
	struct intern texts;
	struct intern keys;  /* identity to module, by equal numbers */
	struct intern tried; /* identities with their paths */
	struct module *items;
	size_t n, cap;
	struct cached *cache;
	struct buf scratch, path;
};

static void unload(struct module *module)
{
	elf_close(module->file);
	symbols_free(module->symbols);
	more_free(module->more);
	module->file = NULL;
	module->symbols = NULL;
	module->more = NULL;
}

static void forget(struct modules *m)
{
	for (size_t i = 0; i < m->n; i++)
		unload(&m->items[i]);
	free(m->items);
	m->items = NULL;
	m->n = m->cap = 0;
	intern_release(&m->texts);
	intern_release(&m->keys);
	intern_release(&m->tried);
}

/* As new: no module, and the text that is none. */
static bool begin(struct modules *m)
{
	uint32_t empty;

	memset(m->cache, 0, sizeof(*m->cache) << CACHE_BITS);
	return intern_add(&m->texts, slice_of(""), &empty);
}

struct modules *modules_new(const struct modules_options *options)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->options = *options;
	finder_init(&m->finder, options->symfs, options->debug_dirs, options->n_debug_dirs);
	m->cache = malloc(sizeof(*m->cache) << CACHE_BITS);
	if (!m->cache || !begin(m)) {
		modules_free(m);
		return NULL;
	}
	return m;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	forget(m);
	free(m->cache);
	buf_release(&m->scratch);
	buf_release(&m->path);
	finder_release(&m->finder);
	free(m);
}

bool modules_tidy(struct modules *m, size_t keep)
{
	size_t bytes = 0;

	for (size_t i = 0; i < m->n; i++)
		bytes += (m->items[i].symbols ? symbols_bytes(m->items[i].symbols) : 0) +
			 more_bytes(m->items[i].more);
	if (bytes <= keep)
		return true;
	forget(m);
	return begin(m);
}

struct intern *modules_texts(struct modules *m)
{
	return &m->texts;
}

size_t modules_count(const struct modules *m)
{
	return m->n;
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

/* Those that the file itself holds, compressed: where no debug file was found. */
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

/* Adds the symbols of the first debug file that has some. Without a runtime file, it stands in for it. */
static bool add_debug(struct modules *m, struct module *module, const struct module_identity *is)
{
	struct buf opened = { 0 };
	struct elf_file *debug;
	size_t step = 0;
	bool good = true, found = false;

	while (good && !found && (debug = finder_debug(&m->finder, &step, module->file, is->build_id, is->path,
						       &opened))) {
		long n = symbols_add(module->symbols, debug, SYMBOLS_SYMTAB | SYMBOLS_SEPARATE);

		good = n >= 0;
		found = n > 0;
		if (found) {
			buf_clear(&m->path);
			buf_bytes(&m->path, opened.p, opened.n);
			module->status = SOURCE_OK;
		}
		if (found && !module->file) {
			module->file = debug;
			module->lost_offsets = elf_lost_offsets(debug);
		} else {
			elf_close(debug);
		}
	}
	buf_release(&opened);
	return good && (found || add_minidebug(module));
}

static enum name_source best_kind(const struct symbols *t, const struct more *more)
{
	return symbols_has(t, ORIGIN_DEBUG)    ? NAME_DEBUG :
	       symbols_has(t, ORIGIN_SYMTAB) ? NAME_SYMTAB :
	       more_kind(more) == NAME_GO ? NAME_GO :
	       symbols_has(t, ORIGIN_MINIDEBUG) ? NAME_MINIDEBUG :
	       symbols_has(t, ORIGIN_PLT) && !symbols_has(t, ORIGIN_DYNSYM) ? NAME_PLT :
	       symbols_has(t, ORIGIN_DYNSYM) ? NAME_DYNSYM : more_kind(more);
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

/* Opens the file, reads its tables and lets it go. False without memory. */
static bool load(struct modules *m, struct module *module, const struct module_identity *is)
{
	long n = 0;
	bool bare;

	unload(module);
	if (module->version++) /* what was not found may be found now */
		memset(m->cache, 0, sizeof(*m->cache) << CACHE_BITS);
	module->symbols = symbols_new();
	if (!module->symbols)
		return false;
	module->status = open_module(m, module, is);
	if (module->file) {
		n = symbols_add(module->symbols, module->file, SYMBOLS_SYMTAB);
		if (n < 0 || symbols_add(module->symbols, module->file, SYMBOLS_DYNAMIC) < 0)
			return false;
	}
	if (n == 0 && !is->image.n && !add_debug(m, module, is))
		return false;
	if (!symbols_settle(module->symbols) || !set_path(m, module) ||
	    !intern_add(&m->texts, is->path, &module->recorded))
		return false;
	bare = !symbols_has(module->symbols, ORIGIN_SYMTAB) && !symbols_has(module->symbols, ORIGIN_DEBUG);
	if (module->file && !more_open(module->file, bare, &module->more))
		return false;
	module->kind = best_kind(module->symbols, module->more);
	if (module->status == SOURCE_OK && (module->kind == NAME_NONE || module->kind == NAME_BOUNDS))
		module->status = SOURCE_STRIPPED;
	if (module->file)
		elf_settle(module->file);
	return true;
}

/* What a module is known by. */
static void write_key(struct buf *key, const struct module_identity *is)
{
	buf_clear(key);
	if (is->image.n) {
		buf_printf(key, "image %016llx", (unsigned long long)hash_bytes(is->image.p, is->image.n));
	} else if (is->build_id.n >= BUILD_ID_KEY_LEAST) {
		buf_text(key, "build ");
		buf_bytes(key, is->build_id.p, is->build_id.n);
	} else {
		buf_printf(key, "file %llx:%llx %llx %llx %x %llx ", (unsigned long long)is->dev_major,
			   (unsigned long long)is->dev_minor, (unsigned long long)is->inode,
			   (unsigned long long)is->generation, (unsigned int)is->host,
			   is->host == HOST_OTHER || !is->inode ? 0 : (unsigned long long)is->seen);
		buf_bytes(key, is->path.p, is->path.n);
	}
}

bool modules_get(struct modules *m, const struct module_identity *identity, uint32_t *id)
{
	struct module_identity is = *identity;
	size_t n_tried = m->tried.n;
	struct module *module;
	uint32_t dummy;

	if (is.build_id.n < BUILD_ID_KEY_LEAST)
		is.build_id.n = 0; /* too short to tell builds apart */
	write_key(&m->scratch, &is);
	if (m->scratch.failed || !intern_add(&m->keys, buf_view(&m->scratch), id))
		return false;
	if (!grow_array(&m->items, &m->cap, *id, sizeof(*m->items)))
		return false;
	if (*id >= m->n)
		m->n = *id + 1;
	module = &m->items[*id];
	buf_bytes(&m->scratch, is.path.p, is.path.n);
	if (m->scratch.failed || !intern_add(&m->tried, buf_view(&m->scratch), &dummy))
		return false;
	/* The same build under another path may be the one that is still there. */
	if (m->tried.n == n_tried || (module->version && module->status == SOURCE_OK))
		return true;
	return load(m, module, &is);
}

static bool translate(struct module *module, const struct module_place *where, uint64_t *vaddr)
{
	uint64_t offset = where->offset - (where->after_call && where->offset);

	if (module->lost_offsets && !elf_vaddr(module->file, offset, vaddr) &&
	    !elf_adopt_mapping(module->file, where->map_offset, where->map_length))
		return false;
	return elf_vaddr(module->file, offset, vaddr);
}

static uint32_t find(struct modules *m, uint32_t id, uint64_t vaddr)
{
	uint64_t mixed = (vaddr + ((uint64_t)id << 40)) * 0x9e3779b97f4a7c15;
	struct cached *c = &m->cache[mixed >> (64 - CACHE_BITS)];

	if (c->module != id + 1 || c->vaddr != vaddr)
		*c = (struct cached){ vaddr, id + 1, symbols_find(m->items[id].symbols, vaddr) };
	return c->symbol;
}

static const uint8_t source_of[ORIGINS] = {
	[ORIGIN_SYMTAB] = NAME_SYMTAB,
	[ORIGIN_DYNSYM] = NAME_DYNSYM,
	[ORIGIN_PLT] = NAME_PLT,
	[ORIGIN_DEBUG] = NAME_DEBUG,
	[ORIGIN_MINIDEBUG] = NAME_MINIDEBUG,
};

/* A symbol's name is demangled once. */
static bool text_of(struct modules *m, struct module *module, uint32_t symbol, uint32_t *text)
{
	uint32_t *known = symbols_tag(module->symbols, symbol);

	if (*known == 0) {
		buf_clear(&m->scratch);
		demangle(&m->scratch, symbols_name(module->symbols, symbol), m->options.demangle);
		if (symbols_origin(module->symbols, symbol) == ORIGIN_PLT)
			buf_text(&m->scratch, "@plt");
		if (m->scratch.failed ||
		    !intern_add(&m->texts, buf_view(&m->scratch), known))
			return false;
	}
	*text = *known;
	return true;
}

/* What has no symbol, or an exported one only, where something better may be known. */
static int name_more(struct modules *m, struct module *module, uint64_t vaddr, uint32_t symbol, struct module_name *name)
{
	struct more_hit hit;

	if (symbol != SYMBOL_NONE && symbols_origin(module->symbols, symbol) != ORIGIN_DYNSYM)
		return 0;
	if (!more_find(module->more, vaddr, &hit) || (symbol != SYMBOL_NONE && hit.source != NAME_GO))
		return 0;
	if (*hit.tag == 0) {
		buf_clear(&m->scratch);
		more_text(&hit, intern_get(&m->texts, module->recorded), &m->scratch);
		if (m->scratch.failed || !intern_add(&m->texts, buf_view(&m->scratch), hit.tag))
			return -1;
	}
	*name = (struct module_name){ *hit.tag, hit.source, vaddr - hit.start };
	return 1;
}

int modules_name(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name)
{
	struct module *module = &m->items[id];
	uint64_t vaddr;
	uint32_t symbol;
	int found;

	if (!module->file || !translate(module, where, &vaddr))
		return 0;
	symbol = find(m, id, vaddr);
	found = module->more ? name_more(m, module, vaddr, symbol, name) : 0;
	if (found == 0 && symbol != SYMBOL_NONE) {
		name->source = source_of[symbols_origin(module->symbols, symbol)];
		name->offset = vaddr - symbols_start(module->symbols, symbol);
		found = text_of(m, module, symbol, &name->text) ? 1 : -1;
	}
	if (found > 0)
		name->offset += where->after_call && where->offset;
	return found;
}

const struct gonames *modules_go(const struct modules *m, uint32_t id, const struct module_place *where, uint64_t *vaddr)
{
	struct module *module = &m->items[id];

	return module->file && translate(module, where, vaddr) ? more_go(module->more) : NULL;
}
