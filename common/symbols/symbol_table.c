#include "common/symbols/symbol_table.h"

#include <elf.h>
#include <stdlib.h>

#include "common/base/le.h"
#include "common/elf/parts.h"
#include "common/symbols/symbols.h"

enum { RELAX_EACH = 1 << 16, RESERVE_MAX = 1 << 20 }; /* symbols */

/* The properties of a section that matter for symbols. */
struct part {
	uint64_t start, end;
	bool code; /* loaded and executable */
};

static struct part *read_parts(const struct elf_file *f, size_t *n)
{
	struct part *parts;

	if (elf_getshdrnum(f->elf, n) != 0 || *n > ELF_SECTIONS_MAX)
		*n = 0;
	parts = calloc(*n + 1, sizeof(*parts));
	for (size_t i = 0; parts && i < *n; i++) {
		Elf_Scn *scn = elf_getscn(f->elf, i);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_addr + sh.sh_size < sh.sh_addr)
			continue;
		parts[i] = (struct part){ sh.sh_addr, sh.sh_addr + sh.sh_size,
					  (sh.sh_flags & SHF_ALLOC) && (sh.sh_flags & SHF_EXECINSTR) };
	}
	return parts;
}

/* Returns true for "$x", "$d.12", "$xrv64i": marks for disassemblers. */
static bool is_mapping_symbol(struct slice name)
{
	return name.n > 1 && name.p[0] == '$' && memchr("adtx", name.p[1], 4) &&
	       (name.n == 2 || name.p[2] == '.' || (name.n > 3 && memcmp(name.p, "$xrv", 4) == 0));
}

static int type_rank(unsigned int type)
{
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return 0;
	case STT_NOTYPE:
		return 1;
	case STT_OBJECT:
		return 2;
	default:
		return -1;
	}
}

static unsigned int binding_rank(unsigned int binding)
{
	if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE)
		return 0;
	return binding == STB_WEAK ? 1 : 2;
}

static Elf_Scn *find_table(const struct elf_file *f, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	}
	return NULL;
}

/* Returns the symbol table's table of section numbers beyond 65279 (SHT_SYMTAB_SHNDX), or NULL. */
static Elf_Data *find_extended(const struct elf_file *f, size_t symtab)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB_SHNDX && sh.sh_link == symtab)
			return elf_part(scn);
	}
	return NULL;
}

struct table {
	struct mapped symbols;
	Elf_Data *extended;
	size_t n;
	bool wide, big; /* 64 bits; big-endian */
	bool native;    /* entries have the layout of Elf64_Sym on this host */
	size_t entry;   /* bytes of a symbol */
	const struct part *parts;
	size_t n_parts;
	uint8_t strings; /* index of the string table */
	uint8_t origin;  /* enum symbol_origin */
};

static uint16_t load16(const struct table *t, const uint8_t *p)
{
	return t->big ? __builtin_bswap16(le16_load(p)) : le16_load(p);
}

static uint32_t load32(const struct table *t, const uint8_t *p)
{
	return t->big ? __builtin_bswap32(le32_load(p)) : le32_load(p);
}

static uint64_t load64(const struct table *t, const uint8_t *p)
{
	return t->big ? __builtin_bswap64(le64_load(p)) : le64_load(p);
}

static inline GElf_Sym load_symbol(const struct table *t, size_t i)
{
	const uint8_t *p = t->symbols.p + i * t->entry;
	GElf_Sym sym;

	if (t->native) {
		memcpy(&sym, p, sizeof(sym));
		return sym;
	}
	if (t->wide)
		return (GElf_Sym){ .st_name = load32(t, p), .st_info = p[4], .st_shndx = load16(t, p + 6),
				   .st_value = load64(t, p + 8), .st_size = load64(t, p + 16) };
	return (GElf_Sym){ .st_name = load32(t, p), .st_info = p[12], .st_shndx = load16(t, p + 14),
			   .st_value = load32(t, p + 4), .st_size = load32(t, p + 8) };
}

/* Returns the section of a symbol if it can hold code, or NULL. */
static const struct part *part_of(const struct table *t, const GElf_Sym *sym, size_t i)
{
	size_t section = sym->st_shndx;

	if (section == SHN_XINDEX) {
		if (!t->extended || i >= t->extended->d_size / sizeof(uint32_t))
			return NULL;
		section = ((const uint32_t *)t->extended->d_buf)[i];
	} else if (section >= SHN_LORESERVE) {
		return NULL;
	}
	return section != SHN_UNDEF && section < t->n_parts && t->parts[section].code ? &t->parts[section] : NULL;
}

static inline bool add_symbol(struct candidates *to, const struct table *table, size_t i)
{
	GElf_Sym sym = load_symbol(table, i);
	const struct part *part = part_of(table, &sym, i);
	int type = type_rank(GELF_ST_TYPE(sym.st_info));
	struct candidate c;

	if (!part || type < 0 || sym.st_value < part->start || sym.st_value >= part->end ||
	    (GELF_ST_TYPE(sym.st_info) == STT_NOTYPE &&
	     is_mapping_symbol(candidates_string(to, table->strings, sym.st_name))))
		return true;
	c = (struct candidate){
		.start = sym.st_value,
		.end = part->end,
		.unsized = sym.st_size == 0,
		.indirect = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC,
		.name = sym.st_name,
		.table = table->strings,
		.origin = table->origin,
		.rank = (uint8_t)((table->origin == ORIGIN_DYNSYM ? 64 : table->origin == ORIGIN_MINIDEBUG ? 32 : 0) +
				  binding_rank(GELF_ST_BIND(sym.st_info)) * 4 + (unsigned int)type),
	};
	if (sym.st_size && sym.st_size < c.end - c.start)
		c.end = c.start + sym.st_size;
	return candidates_add(to, &c);
}

/* Prefetches the name of symbol i: names are in the order of a hash table, not in that of the symbols. */
static inline __attribute__((always_inline))
void expect_name(const struct candidates *to, const struct table *table, size_t i)
{
	const struct mapped *strings = &to->tables[table->strings].bytes;
	uint32_t name = load32(table, table->symbols.p + i * table->entry); /* first in both classes */

	if (name < strings->n)
		__builtin_prefetch(strings->p + name);
}

/* Opens the bytes of a section, mapped if possible. */
static bool open_part(const struct elf_file *f, Elf_Scn *scn, struct mapped *m)
{
	GElf_Shdr sh;

	*m = (struct mapped){ 0 };
	return scn && gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size <= ELF_PART_MAX &&
	       mapped_open(m, f->fd, sh.sh_offset, sh.sh_size);
}

static bool read_symbols(struct candidates *to, const struct elf_file *f, struct table *table, size_t entsize)
{
	GElf_Ehdr eh;
	struct part *parts;
	bool good;

	if (!gelf_getehdr(f->elf, &eh))
		return true;
	table->wide = eh.e_ident[EI_CLASS] == ELFCLASS64;
	table->big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	table->native = table->wide && !table->big && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	table->entry = table->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	table->n = table->symbols.n / (entsize > table->entry ? entsize : table->entry);
	table->parts = parts = read_parts(f, &table->n_parts);
	if (!parts)
		return false;
	good = candidates_reserve(to, table->n < RESERVE_MAX ? table->n : RESERVE_MAX);
	for (size_t i = 1; good && i < table->n; i++) {
		if (i % RELAX_EACH == 0 && table->symbols.n > MAPPED_WINDOW)
			mapped_relax(&table->symbols);
		if (i + CANDIDATES_AHEAD < table->n)
			expect_name(to, table, i + CANDIDATES_AHEAD);
		good = add_symbol(to, table, i);
	}
	free(parts);
	return good;
}

bool symbol_table_add(struct candidates *to, const struct elf_file *f, uint32_t type, uint8_t origin,
		      uint8_t *used, bool *damaged)
{
	struct table table = { .origin = origin };
	struct mapped strings;
	GElf_Shdr sh;
	Elf_Scn *scn = find_table(f, type, &sh);
	bool good;

	*used = SYMBOL_TABLE_NONE;
	if (!scn || sh.sh_entsize == 0 || !open_part(f, scn, &table.symbols))
		return true;
	if (!open_part(f, elf_getscn(f->elf, sh.sh_link), &strings)) {
		mapped_close(&table.symbols);
		return true;
	}
	good = candidates_add_mapped(to, &strings, &table.strings);
	if (good) {
		*used = table.strings;
		table.extended = find_extended(f, elf_ndxscn(scn));
		good = read_symbols(to, f, &table, sh.sh_entsize);
		*damaged |= mapped_lost(&table.symbols) || mapped_lost(&to->tables[table.strings].bytes);
	}
	mapped_close(&table.symbols);
	return good;
}
