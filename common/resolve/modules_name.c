#include "common/resolve/modules_internal.h"

#include "common/elf/elffile.h"
#include "common/symbols/symbols.h"

static bool find_vaddr(struct module *module, const struct module_place *where, uint64_t *vaddr)
{
	uint64_t offset = where->offset - (where->after_call && where->offset);

	if (module->lost_offsets && !elf_vaddr(module->file, offset, vaddr) &&
	    !elf_adopt_mapping(module->file, where->map_offset, where->map_length))
		return false;
	return elf_vaddr(module->file, offset, vaddr);
}

static const uint8_t source_of[ORIGINS] = {
	[ORIGIN_SYMTAB] = NAME_SYMTAB,
	[ORIGIN_DYNSYM] = NAME_DYNSYM,
	[ORIGIN_PLT] = NAME_PLT,
	[ORIGIN_DEBUG] = NAME_DEBUG,
	[ORIGIN_MINIDEBUG] = NAME_MINIDEBUG,
};

/* All code compiled by gnat refers to its runtime, whose names in C begin so. */
static bool is_ada(struct module *module, struct slice name)
{
	if (!demangle_may_be_ada(name))
		return false;
	if (module->ada == ADA_UNKNOWN)
		module->ada = symbols_have_prefix(module->symbols, "__gnat_") ? ADA_YES : ADA_NO;
	return module->ada == ADA_YES;
}

/* Demangles a symbol's name, once. Returns 0 if it is not there any more. */
static int make_text(struct modules *m, struct module *module, uint32_t id, struct symbol *symbol)
{
	size_t n_texts = m->texts.n;

	if (!symbols_name(module->symbols, id, &m->name)) {
		modules_damaged(m, module);
		return m->name.failed ? -1 : 0;
	}
	buf_clear(&m->scratch);
	if (!is_ada(module, buf_view(&m->name)) || !demangle_ada(&m->scratch, buf_view(&m->name), m->options.demangle))
		demangle(&m->scratch, buf_view(&m->name), m->options.demangle);
	if (symbol->origin == ORIGIN_PLT)
		buf_text(&m->scratch, "@plt");
	if (m->scratch.failed || !intern_add(&m->texts, buf_view(&m->scratch), &symbol->tag))
		return -1;
	if (m->texts.n > n_texts)
		m->text_bytes += m->scratch.n + TEXT_COST;
	return 1;
}

/* Names an address without a symbol, or with just an exported one if a better name may exist. */
static int name_more(struct modules *m, struct module *module, uint64_t vaddr, uint32_t symbol,
		     struct module_name *name)
{
	size_t n_texts = m->texts.n;
	struct fallback_names_hit hit;

	if (symbol != SYMBOL_NONE && symbols_get(module->symbols, symbol)->origin != ORIGIN_DYNSYM)
		return 0;
	if (!fallback_names_find(module->more, vaddr, &hit) || (symbol != SYMBOL_NONE && hit.source != NAME_GO))
		return 0;
	if (*hit.tag == 0) {
		buf_clear(&m->scratch);
		fallback_names_text(&hit, module->is.path, &m->scratch);
		if (m->scratch.failed || !intern_add(&m->texts, buf_view(&m->scratch), hit.tag))
			return -1;
		if (m->texts.n > n_texts)
			m->text_bytes += m->scratch.n + TEXT_COST;
	}
	*name = (struct module_name){ *hit.tag, hit.source, vaddr - hit.start };
	return 1;
}

static int name_symbol(struct modules *m, struct module *module, uint64_t vaddr, uint32_t id, struct module_name *name)
{
	struct symbol *symbol = symbols_get(module->symbols, id);
	int made = symbol->tag ? 1 : make_text(m, module, id, symbol);

	if (made <= 0) /* its file was damaged meanwhile: all symbols are gone */
		return made;
	*name = (struct module_name){ symbol->tag, source_of[symbol->origin], vaddr - symbol->start };
	return 1;
}

/*
 * Some functions are returned to but never called: the return address of a signal handler, or of a context's
 * function, is their first byte. The byte before it belongs to nothing.
 */
static int name_return(struct modules *m, struct module *module, uint64_t address, struct module_name *name)
{
	static const char *const entries[] = { "__restore_rt", "__restore", "__start_context", "runtime.sigreturn__sigaction",
					       "runtime.sigreturn" };
	uint32_t id = symbols_find(module->symbols, address);

	if (id == SYMBOL_NONE || symbols_get(module->symbols, id)->start != address)
		return 0;
	if (!symbols_name(module->symbols, id, &m->name))
		return m->name.failed ? -1 : 0;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (slice_is(buf_view(&m->name), entries[i]))
			return name_symbol(m, module, address, id, name);
	}
	return 0;
}

int modules_name_once(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name)
{
	struct module *module = &m->items[id];
	uint64_t vaddr;
	uint32_t symbol;
	int found;

	*name = (struct module_name){ 0 };
	if (!modules_wake(m, module))
		return -1;
	if (!module->file || !module->symbols || !find_vaddr(module, where, &vaddr))
		return 0;
	module->bias = vaddr - where->offset;
	symbol = symbols_find(module->symbols, vaddr);
	if (symbol == SYMBOL_NONE && where->after_call && where->offset) {
		found = name_return(m, module, vaddr + 1, name);
		if (found != 0)
			return found;
	}
	found = module->more ? name_more(m, module, vaddr, symbol, name) : 0;
	if (found == 0 && symbol != SYMBOL_NONE)
		found = name_symbol(m, module, vaddr, symbol, name);
	if (found > 0)
		name->offset += where->after_call && where->offset;
	return found;
}

static struct cached *slot_of(const struct modules *m, uint32_t id, uint64_t offset)
{
	return &m->cache[(offset + ((uint64_t)id << 40)) * 0x9e3779b97f4a7c15 >> (64 - CACHE_BITS)];
}

void modules_expect(const struct modules *m, uint32_t id, uint64_t offset, enum expectation when)
{
	if (id < m->n && m->items[id].symbols)
		symbols_expect(m->items[id].symbols, offset + m->items[id].bias, when);
}

int modules_name(struct modules *m, uint32_t id, const struct module_place *where, struct module_name *name)
{
	uint32_t key = id * 2 + 2 + where->after_call;
	struct cached *c = slot_of(m, id, where->offset);
	int found;

	if (c->offset == where->offset && c->module == key && c->generation == m->generation) {
		*name = (struct module_name){ c->text, c->source, c->name_offset };
		return c->text != 0;
	}
	found = modules_name_once(m, id, where, name);
	if (found > 0 || (found == 0 && m->items[id].symbols && !m->items[id].lost_offsets))
		*c = (struct cached){ where->offset, name->offset, key, name->text, name->source, m->generation };
	return found;
}

bool modules_have_levels(const struct modules *m)
{
	return m->options.levels != 0;
}

long modules_levels(struct modules *m, uint32_t id, const struct module_place *where, const struct level **levels)
{
	struct module *module = &m->items[id];
	uint64_t vaddr;
	long n;

	if (!m->options.levels)
		return 0;
	if (!modules_wake(m, module))
		return -1;
	if (!module->levels || !module->file || !find_vaddr(module, where, &vaddr))
		return 0;
	n = inline_chain_find(module->levels, vaddr, &m->texts, m->options.demangle, levels);
	modules_weigh(m, module);
	return n;
}
