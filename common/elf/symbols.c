#include "common/elf/symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/elf/candidate.h"
#include "common/elf/parts.h"

/* What a look-up needs to keep of a symbol; all of it in one line of the CPU's cache. */
struct symbol {
	uint64_t start;
	uint32_t name;  /* offset in its string table */
	uint32_t tag;   /* the caller's */
	uint8_t table;  /* which string table */
	uint8_t origin;
};

/* [start, the next one's start) belongs to a symbol, or to none. */
struct interval {
	uint64_t start;
	uint32_t owner;
};

/*
 * The index divides the range of addresses into equal pieces, about two for each interval, and knows
 * where each begins among the intervals: what is left to search is a handful. On a large binary that is two
 * cache misses for an address instead of a dozen.
 */
struct index {
	uint32_t *first; /* of piece i: the last interval that begins at or before its first byte */
	size_t n;
	unsigned int shift;
};

struct symbols {
	struct candidates in;
	struct symbol *items;
	size_t n, cap;
	struct interval *intervals;
	size_t n_intervals, cap_intervals;
	struct index index;
	bool has[ORIGINS];
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *t)
{
	if (!t)
		return;
	candidates_release(&t->in);
	free(t->items);
	free(t->intervals);
	free(t->index.first);
	free(t);
}

/* A section as far as symbols care. */
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

/* "$x", "$d.12", "$xrv64i": marks for disassemblers. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.' || strncmp(name, "$xrv", 4) == 0);
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

static bool usable(const GElf_Sym *sym, const struct part *part, const char *name)
{
	return part->code && sym->st_value >= part->start && sym->st_value < part->end && name[0] &&
	       !(GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && is_mapping_symbol(name));
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

/* The table of section numbers beyond 65279 that belongs to the symbol table. */
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
	Elf_Data *symbols, *extended;
	size_t n;
	const struct part *parts;
	size_t n_parts;
	uint8_t strings; /* number of the string table */
	uint8_t origin;
};

static bool add_symbol(struct symbols *t, const struct table *table, size_t i)
{
	struct candidate c;
	const char *name;
	Elf32_Word extended = 0;
	GElf_Sym sym;
	size_t section;
	int type;

	if (!gelf_getsymshndx(table->symbols, table->extended, (int)i, &sym, &extended))
		return true;
	section = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
	type = type_rank(GELF_ST_TYPE(sym.st_info));
	if (type < 0 || section == SHN_UNDEF || section >= table->n_parts ||
	    (sym.st_shndx >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX))
		return true;
	name = candidates_string(&t->in, table->strings, sym.st_name);
	if (!name || !usable(&sym, &table->parts[section], name))
		return true;
	c = (struct candidate){
		.start = sym.st_value,
		.end = sym.st_value,
		.limit = table->parts[section].end,
		.name = sym.st_name,
		.table = table->strings,
		.origin = table->origin,
		.rank = (uint8_t)((table->origin == ORIGIN_DYNSYM ? 64 : table->origin == ORIGIN_MINIDEBUG ? 32 : 0) +
				  binding_rank(GELF_ST_BIND(sym.st_info)) * 4 + (unsigned int)type),
	};
	if (sym.st_size)
		c.end = sym.st_size < c.limit - c.start ? c.start + sym.st_size : c.limit;
	return candidates_add(&t->in, &c);
}

/* Number of the string table, or NO_TABLE where the file has no such symbols. */
enum { NO_TABLE = STRING_TABLES_MAX };

static bool add_table(struct symbols *t, const struct elf_file *f, uint32_t type, uint8_t origin, uint8_t *used)
{
	struct table table = { .origin = origin };
	struct part *parts;
	GElf_Shdr sh;
	Elf_Scn *scn = find_table(f, type, &sh);
	char *strings;
	size_t n_strings;
	bool good = true;

	*used = NO_TABLE;

	if (!scn || sh.sh_entsize == 0)
		return true;
	table.symbols = elf_part(scn);
	strings = table.symbols && elf_getscn(f->elf, sh.sh_link) ?
			  elf_read_part(f->fd, elf_getscn(f->elf, sh.sh_link), &n_strings) : NULL;
	if (!strings)
		return true;
	if (!candidates_add_strings(&t->in, strings, n_strings, &table.strings))
		return false;
	*used = table.strings;
	table.extended = find_extended(f, elf_ndxscn(scn));
	table.n = table.symbols->d_size / sh.sh_entsize;
	table.parts = parts = read_parts(f, &table.n_parts);
	if (!parts)
		return false;
	for (size_t i = 1; good && i < table.n && i < INT32_MAX; i++)
		good = add_symbol(t, &table, i);
	free(parts);
	return good;
}

long symbols_add(struct symbols *t, const struct elf_file *f, unsigned int what)
{
	size_t before = t->in.n;
	bool good = true;
	uint8_t strings;

	if (what & SYMBOLS_SYMTAB)
		good = add_table(t, f, SHT_SYMTAB, what & SYMBOLS_SEPARATE ? ORIGIN_DEBUG :
				 what & SYMBOLS_MINIDEBUG ? ORIGIN_MINIDEBUG : ORIGIN_SYMTAB, &strings);
	if (good && (what & SYMBOLS_DYNAMIC))
		good = add_table(t, f, SHT_DYNSYM, ORIGIN_DYNSYM, &strings) &&
		       (strings == NO_TABLE || candidates_add_plt(&t->in, f, strings));
	return good ? (long)(t->in.n - before) : -1;
}

/* From this address on, the candidate (or none) is the one. */
static bool emit(struct symbols *t, uint64_t at, uint32_t owner)
{
	if (t->n_intervals && t->intervals[t->n_intervals - 1].start == at)
		t->n_intervals--;
	if (t->n_intervals ? t->intervals[t->n_intervals - 1].owner == owner : owner == SYMBOL_NONE)
		return true;
	if (!grow_array(&t->intervals, &t->cap_intervals, t->n_intervals, sizeof(*t->intervals)))
		return false;
	t->intervals[t->n_intervals++] = (struct interval){ at, owner };
	return true;
}

/* Symbols that have begun and are not known to have ended; the one that began last on top. */
struct open_stack {
	uint32_t *items;
	size_t n, cap;
};

/* Ends what ends up to here: after an inner symbol the one around it goes on. */
static bool advance(struct symbols *t, struct open_stack *open, uint64_t to)
{
	const struct candidate *c = t->in.items;

	while (open->n && c[open->items[open->n - 1]].end <= to) {
		uint64_t end = c[open->items[open->n - 1]].end;

		while (open->n && c[open->items[open->n - 1]].end <= end)
			open->n--;
		if (!emit(t, end, open->n ? open->items[open->n - 1] : SYMBOL_NONE))
			return false;
	}
	return true;
}

static bool push(struct open_stack *open, uint32_t i)
{
	if (!grow_array(&open->items, &open->cap, open->n, sizeof(*open->items)))
		return false;
	open->items[open->n++] = i;
	return true;
}

/* A symbol without a size, with none around it: it gets the room up to next. */
static void give_room(struct candidate *c, uint64_t next)
{
	c->end = c->limit < next ? c->limit : next;
	if (c->origin == ORIGIN_DYNSYM)
		c->end = c->start + 1;
}

/* The candidates [first, last) begin at one address, the best at the end, sized ones behind labels. */
static bool begin_group(struct symbols *t, struct open_stack *open, size_t first, size_t last)
{
	struct candidate *c = t->in.items;
	uint64_t start = c[first].start;

	if (!advance(t, open, start))
		return false;
	if (c[last - 1].end == start) { /* only labels */
		if (open->n)
			return true;
		give_room(&c[last - 1], last < t->in.n ? c[last].start : UINT64_MAX);
		return push(open, (uint32_t)last - 1) && emit(t, start, (uint32_t)last - 1);
	}
	for (size_t i = first; i < last; i++) {
		if (c[i].end > start && !push(open, (uint32_t)i))
			return false;
	}
	return emit(t, start, (uint32_t)last - 1);
}

/* Replaces the candidates by what is kept of those that own an interval. */
static bool keep_owners(struct symbols *t)
{
	uint32_t *new_number = malloc((t->in.n + 1) * sizeof(*new_number));

	if (!new_number)
		return false;
	memset(new_number, 0xff, (t->in.n + 1) * sizeof(*new_number));
	for (size_t i = 0; i < t->n_intervals; i++) {
		uint32_t o = t->intervals[i].owner;
		const struct candidate *c = &t->in.items[o];

		if (o == SYMBOL_NONE)
			continue;
		if (new_number[o] == SYMBOL_NONE) {
			if (!grow_array(&t->items, &t->cap, t->n, sizeof(*t->items))) {
				free(new_number);
				return false;
			}
			t->items[t->n] = (struct symbol){ c->start, c->name, 0, c->table, c->origin };
			new_number[o] = (uint32_t)t->n++;
			t->has[c->origin] = true;
		}
		t->intervals[i].owner = new_number[o];
	}
	free(new_number);
	candidates_drop_items(&t->in);
	return true;
}

static bool build_index(struct symbols *t)
{
	struct index *x = &t->index;
	uint64_t base, span;

	if (t->n_intervals == 0)
		return true;
	base = t->intervals[0].start;
	span = t->intervals[t->n_intervals - 1].start - base;
	while (span >> x->shift > 2 * t->n_intervals)
		x->shift++;
	x->n = (size_t)(span >> x->shift) + 1;
	x->first = malloc((x->n + 1) * sizeof(*x->first));
	if (!x->first)
		return false;
	for (size_t piece = 0, i = 0; piece < x->n; piece++) {
		while (i + 1 < t->n_intervals && t->intervals[i + 1].start - base <= (uint64_t)piece << x->shift)
			i++;
		x->first[piece] = (uint32_t)i;
	}
	x->first[x->n] = (uint32_t)t->n_intervals - 1;
	return true;
}

bool symbols_settle(struct symbols *t)
{
	struct open_stack open = { 0 };
	const struct candidate *c;
	bool good = candidates_sort(&t->in);

	c = t->in.items;
	for (size_t first = 0, last; good && first < t->in.n; first = last) {
		for (last = first + 1; last < t->in.n && c[last].start == c[first].start; last++)
			;
		good = begin_group(t, &open, first, last);
	}
	good = good && advance(t, &open, UINT64_MAX);
	free(open.items);
	return good && keep_owners(t) && build_index(t);
}

uint32_t symbols_find(const struct symbols *t, uint64_t vaddr)
{
	uint64_t piece;
	size_t low, high;

	if (t->n_intervals == 0 || vaddr < t->intervals[0].start)
		return SYMBOL_NONE;
	piece = (vaddr - t->intervals[0].start) >> t->index.shift;
	if (piece >= t->index.n)
		return t->intervals[t->n_intervals - 1].owner;
	low = t->index.first[piece];
	high = t->index.first[piece + 1] + 1;
	while (high - low > 1) { /* intervals[low] begins at or before vaddr, intervals[high] behind it */
		size_t mid = low + (high - low) / 2;

		if (t->intervals[mid].start <= vaddr)
			low = mid;
		else
			high = mid;
	}
	return t->intervals[low].owner;
}

uint64_t symbols_start(const struct symbols *t, uint32_t s)
{
	return t->items[s].start;
}

uint32_t *symbols_tag(struct symbols *t, uint32_t s)
{
	return &t->items[s].tag;
}

struct slice symbols_name(const struct symbols *t, uint32_t s)
{
	const struct symbol *sym = &t->items[s];
	const char *name = candidates_string(&t->in, sym->table, sym->name);
	size_t n = strnlen(name, SYMBOL_NAME_MAX);
	const char *version = n > 1 ? memchr(name + 1, '@', n - 1) : NULL;

	return (struct slice){ (const uint8_t *)name, version ? (size_t)(version - name) : n };
}

enum symbol_origin symbols_origin(const struct symbols *t, uint32_t s)
{
	return t->items[s].origin;
}

bool symbols_has(const struct symbols *t, enum symbol_origin origin)
{
	return t->has[origin];
}

size_t symbols_bytes(const struct symbols *t)
{
	size_t n = sizeof(*t) + t->cap * sizeof(*t->items) + t->cap_intervals * sizeof(*t->intervals) +
		   t->index.n * sizeof(*t->index.first);

	for (size_t i = 0; i < t->in.n_tables; i++)
		n += t->in.tables[i].n;
	return n;
}
