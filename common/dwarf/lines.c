#include "common/dwarf/lines.h"

#include <stdlib.h>

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/base/search.h"
#include "common/dwarf/unit.h"
#include "common/elf/bounds.h"

enum {
	ABBREVS_BYTES_MAX = 1 << 28,  /* abbreviations decoded to open a file */
	WORK_MAX = 1 << 28,           /* bytes and rows decoded to open a file, of units without ranges */
	UNITS_MAX = 16,               /* units searched for one address */
	STEPS_MAX = 256,              /* steps back among overlapping ranges */
	ABBREV_GROWTH = 4,            /* bytes that libdw makes of a byte of abbreviations, about */
	UNIT_BYTES = 1024,            /* bytes that libdw makes of a unit, about */
	NAME_BYTES = 24,              /* bytes of an entry in the map of names, about */
	CACHE_BITS = 14,              /* half a megabyte for a file with look-ups */
};

/* Opens the dwz file. Without one, libdw is given the file itself, because it would open the named path. */
static void begin_alt(struct lines *l, const struct lines_options *o)
{
	const char *name;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);
	struct slice build_id = { id, n > 0 ? (size_t)n : 0 };
	bool info;

	if (n > 0 && o->open_alt)
		l->alt = o->open_alt(o->arg, slice_of(name), build_id);
	if (l->alt && l->alt->elf && elf_is_build(l->alt, build_id) &&
	    prepare_sections(l->alt->elf, l->alt->fd, &l->inflated, &l->section_bytes, &info, o->alt_unread) && info) {
		l->alt_dwarf = dwarf_begin_elf(l->alt->elf, DWARF_C_READ, NULL);
		count_unread(l->alt->elf, l->alt->fd, o->alt_unread);
	}
	if (l->alt_dwarf)
		home_find(&l->other, l->alt->elf, "");
	if (l->alt && l->alt->elf && l->alt->fd >= 0) {
		elf_cntl(l->alt->elf, ELF_C_FDDONE);
		close(l->alt->fd);
		l->alt->fd = -1;
	}
}

static bool begin_dwarf(struct lines *l)
{
	l->dwarf = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
	return l->dwarf != NULL;
}

static void find_sections(struct lines *l)
{
	home_find(&l->main, l->elf, "");
	l->sections.line = debug_section(l->elf, "line", "");
	l->sections.line_str = l->main.parts[HOME_LINE_STR];
	l->sections.str = l->main.parts[HOME_STR];
	l->abbrevs = debug_section(l->elf, "abbrev", "");
	l->rnglists = debug_section(l->elf, "rnglists", "");
}

/* Counts a unit of which something is left out, once. */
static void count_cut(struct lines *l, struct unit *u)
{
	l->n_cut += !u->cut;
	u->cut = true;
}

static bool add_span(struct lines *l, uint64_t start, uint64_t end, uint32_t unit)
{
	struct span *last = l->n_spans ? &l->spans[l->n_spans - 1] : NULL;

	if (start >= end)
		return true;
	if (last && last->unit == unit && last->end == start) {
		last->end = end;
		return true;
	}
	if (l->n_spans >= LINES_SPANS_MAX) {
		count_cut(l, &l->units[unit]);
		return true;
	}
	if (!grow_array(&l->spans, &l->cap_spans, l->n_spans, sizeof(*l->spans)))
		return false;
	l->spans[l->n_spans++] = (struct span){ start, end, 0, unit };
	return true;
}

static void keep_flat(struct lines *l, struct unit *u, struct flat *f)
{
	const struct unit *next = u + 1 < l->units + l->n_units ? u + 1 : u;
	uint64_t end = next->abbrevs > u->abbrevs ? next->abbrevs : l->abbrevs.n;

	u->flat = f;
	if (f->cut)
		count_cut(l, u);
	l->flat_bytes += flat_bytes(f);
	l->libdw_bytes += UNIT_BYTES + (end > u->abbrevs ? (size_t)(end - u->abbrevs) * ABBREV_GROWTH : 0);
}

static void free_flats(struct lines *l)
{
	for (size_t i = 0; i < l->n_units; i++) {
		flat_free(l->units[i].flat);
		l->units[i].flat = NULL;
	}
	l->flat_bytes = 0;
	if (l->cache)
		memset(l->cache, 0, sizeof(*l->cache) << CACHE_BITS);
}

static size_t names_bytes(const struct lines *l)
{
	return l->names.n * NAME_BYTES;
}

/* Finds the ranges of a unit that does not give them, from its functions and its lines. */
static bool span_contents(struct lines *l, uint32_t unit)
{
	struct unit *u = &l->units[unit];
	struct flat *f = unit_flatten(l, u);

	if (!f)
		return false;
	keep_flat(l, u, f);
	for (size_t i = 0; i + 1 < f->n_intervals; i++) {
		if (f->intervals[i].node != NODE_NONE &&
		    !add_span(l, f->intervals[i].start, f->intervals[i + 1].start, unit))
			return false;
	}
	for (size_t i = 0; i + 1 < f->n_rows; i++) {
		if (f->rows[i].file != ROW_GAP && !add_span(l, f->rows[i].start, f->rows[i + 1].start, unit))
			return false;
	}
	if (l->flat_bytes + names_bytes(l) > l->bytes_max) {
		free_flats(l);
		idmap_clear(&l->names);
	}
	return true;
}

/* Reads the unit's own entry. */
static bool read_unit(struct lines *l, const Dwarf_Die *die, const struct unit *u, struct attributes *a)
{
	struct entry e;

	return entries_use(&l->entries, l->abbrevs, u->abbrevs, die, l->main.parts[HOME_INFO].p + u->end) &&
	       entries_begin(&l->entries, die->addr, &e) && !e.ends_level && entries_pass(&l->entries, &e, a);
}

/* Adds a unit with its ranges, if it may contain code. Returns false if out of memory. */
static bool add_unit(struct lines *l, Dwarf_Die *die, const struct unit *unit, bool *split)
{
	struct range_walk walk = { .based = true };
	uint32_t number = (uint32_t)l->n_units;
	struct attributes a;
	struct code_range range;
	bool says;
	uint8_t type;

	if (dwarf_cu_info(die->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 || !read_unit(l, die, unit, &a))
		return !l->entries.failed;
	walk.base = unit_base(&a);
	says = a.has[WANT_RANGES] || (a.has[WANT_LOW_PC] && a.has[WANT_HIGH_PC]);
	if (type != DW_UT_compile && type != DW_UT_skeleton && !(type == DW_UT_partial && says))
		return true;
	*split |= type == DW_UT_skeleton;
	if (!grow_array(&l->units, &l->cap_units, l->n_units, sizeof(*l->units)))
		return false;
	l->units[l->n_units++] = *unit;
	if (!says && l->work <= WORK_MAX)
		return span_contents(l, number);
	while (l->work <= WORK_MAX && range_next(l, die, &a, &walk, &range)) {
		l->work++;
		if (!add_span(l, range.start, range.end, number))
			return false;
	}
	if (l->work > WORK_MAX)
		count_cut(l, &l->units[number]);
	return true;
}

static int span_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static bool find_units(struct lines *l, bool *split)
{
	struct slice info = l->main.parts[HOME_INFO];
	Dwarf_Off at = 0, next;
	size_t header;
	struct unit unit = { 0 };
	size_t seen = 0;

	while (l->entries.decoded < ABBREVS_BYTES_MAX &&
	       dwarf_next_unit(l->dwarf, at, &next, &header, NULL, &unit.abbrevs, NULL, NULL, NULL, NULL) == 0 &&
	       next > at) {
		Dwarf_Die die;

		unit.die = at + header;
		unit.end = next < info.n ? next : info.n;
		at = next;
		if (seen++ >= LINES_UNITS_MAX) {
			l->n_cut++;
			continue;
		}
		if (unit.die < unit.end && dwarf_offdie(l->dwarf, unit.die, &die) && !add_unit(l, &die, &unit, split))
			return false;
	}
	if (l->n_spans)
		qsort(l->spans, l->n_spans, sizeof(*l->spans), span_compare);
	for (size_t i = 0; i < l->n_spans; i++) {
		uint64_t before = i ? l->spans[i - 1].reached : 0;

		l->spans[i].reached = l->spans[i].end > before ? l->spans[i].end : before;
	}
	return true;
}

/* Returns the path of the file as libdw will see it, from malloc; or NULL. */
static char *real_path_of(int fd)
{
	char link[64] = "";
	struct buf b = { 0 };

	buf_printf(&b, "/proc/self/fd/%d", fd);
	strncpy(link, buf_cstr(&b), sizeof(link) - 1);
	buf_release(&b);
	return realpath(link, NULL);
}

static bool is_readable(Elf *elf)
{
	GElf_Ehdr eh;

	return elf && gelf_getehdr(elf, &eh) && eh.e_type != ET_REL &&
	       eh.e_ident[EI_DATA] == ELFDATA2LSB;
}

static enum lines_opened open_dwarf(struct lines *l, const struct elf_file *f, const struct lines_options *o)
{
	bool info = false, split = false, begun;
	enum elf_opened why;

	l->fd = f->fd >= 0 ? fcntl(f->fd, F_DUPFD_CLOEXEC, 0) : -1;
	l->elf = l->fd >= 0 ? elf_begin_bounded(l->fd, &why) : NULL;
	if (!is_readable(l->elf))
		return LINES_NONE;
	if (!prepare_sections(l->elf, l->fd, &l->inflated, &l->section_bytes, &info, o->unread))
		return LINES_DAMAGED;
	if (!info)
		return LINES_NONE;
	if (!code_find(&l->code, l->elf, f))
		return LINES_NO_MEMORY;
	begun = begin_dwarf(l);
	count_unread(l->elf, l->fd, o->unread);
	if (!begun)
		return LINES_DAMAGED;
	find_sections(l);
	begin_alt(l, o);
	dwarf_setalt(l->dwarf, l->alt_dwarf ? l->alt_dwarf : l->dwarf);
	if (o->split)
		l->path = real_path_of(l->fd);
	if (!find_units(l, &split))
		return LINES_NO_MEMORY;
	if (l->n_units == 0)
		return l->main.parts[HOME_INFO].n ? LINES_DAMAGED : LINES_NONE;
	if (!split || !l->path) { /* everything has been read */
		elf_cntl(l->elf, ELF_C_FDDONE);
		close(l->fd);
		l->fd = -1;
	}
	return LINES_OPENED;
}

enum lines_opened lines_open(const struct elf_file *f, const struct lines_options *options, struct lines **lp)
{
	struct lines *l = calloc(1, sizeof(*l));
	enum lines_opened result = LINES_NO_MEMORY;
	uint32_t empty;

	*lp = NULL;
	if (!l)
		return LINES_NO_MEMORY;
	l->fd = -1;
	l->bytes_max = options->bytes_max ? options->bytes_max : LINES_BYTES_MAX;
	intern_init(&l->texts);
	idmap_init(&l->names);
	if (intern_add(&l->texts, slice_of(""), &empty))
		result = open_dwarf(l, f, options);
	if (result == LINES_OPENED)
		*lp = l;
	else
		lines_close(l);
	return result;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	free_flats(l);
	dwarf_end(l->dwarf);
	dwarf_end(l->alt_dwarf);
	elf_close(l->alt);
	elf_end(l->elf);
	inflated_release(&l->inflated);
	if (l->fd >= 0)
		close(l->fd);
	free(l->code.items);
	free(l->units);
	free(l->spans);
	free(l->path);
	free(l->cache);
	free(l->pieces);
	entries_release(&l->entries);
	line_scratch_release(&l->scratch);
	intern_release(&l->texts);
	idmap_release(&l->names);
	free(l);
}

/* Returns to the state after opening, but keeps texts. Returns false if libdw does not start again. */
static bool restart_dwarf(struct lines *l)
{
	free_flats(l);
	idmap_clear(&l->names);
	l->libdw_bytes = 0;
	l->package = PACKAGE_NEW;
	entries_release(&l->entries); /* they may point into a .dwo file, which dwarf_end closes */
	dwarf_end(l->dwarf);
	if (!begin_dwarf(l))
		return false;
	dwarf_setalt(l->dwarf, l->alt_dwarf ? l->alt_dwarf : l->dwarf);
	return true;
}

static const struct flat *flat_of(struct lines *l, uint32_t unit)
{
	struct unit *u = &l->units[unit];

	if (!u->flat) {
		struct flat *f = unit_flatten(l, u);

		if (!f)
			return NULL;
		keep_flat(l, u, f);
	}
	return u->flat;
}

/* Finds the units that cover this address, in the order of the file. Returns their number. */
static size_t units_at(const struct lines *l, uint64_t vaddr, uint32_t *units)
{
	size_t low = SEARCH_COUNT(l->n_spans, middle, l->spans[middle].start <= vaddr), n = 0;

	for (size_t steps = 0; low-- > 0 && l->spans[low].reached > vaddr && steps < STEPS_MAX && n < UNITS_MAX; steps++) {
		uint32_t unit = l->spans[low].unit;
		size_t at = n;

		if (l->spans[low].end <= vaddr)
			continue;
		while (at && units[at - 1] > unit)
			at--;
		if (at && units[at - 1] == unit)
			continue;
		memmove(units + at + 1, units + at, (n - at) * sizeof(*units));
		units[at] = unit;
		n++;
	}
	return n;
}

static void fill_chain(struct lines_chain *c, const struct place *place)
{
	struct lines_level inner = { 0, place->file, place->line };
	const struct flat_node *nodes = place->nodes;
	uint32_t n = 0, node = place->node;

	c->n = 1;
	c->level[0] = inner;
	if (node == NODE_NONE)
		return;
	for (uint32_t i = node; i != NODE_NONE && n < LINES_LEVELS_MAX; i = nodes[i].parent)
		n++;
	c->n = n;
	while (n--) {
		const struct flat_node *this = &nodes[node];

		inner.name = this->name;
		c->level[n] = inner;
		inner = (struct lines_level){ 0, this->call_file, this->call_line };
		node = this->parent;
	}
}

/*
 * Returns true if all these units are flattened. Even a unit larger than the limit then stays until another
 * one is needed, because most addresses come in order.
 */
static bool are_flat(const struct lines *l, const uint32_t *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!l->units[units[i]].flat)
			return false;
	}
	return true;
}

/*
 * Looks the address up in the units that may contain it, until one has a function there. Returns false if out
 * of memory.
 */
static bool find_place(struct lines *l, uint64_t vaddr, struct place *place)
{
	uint32_t units[UNITS_MAX + 1];
	size_t n = units_at(l, vaddr, units);

	if (l->flat_bytes + l->libdw_bytes + names_bytes(l) > l->bytes_max && !are_flat(l, units, n) &&
	    !restart_dwarf(l))
		return false;
	*place = (struct place){ .vaddr = vaddr, .state = PLACE_EMPTY };
	for (size_t i = 0; i < n; i++) {
		const struct flat *f = flat_of(l, units[i]);
		const struct line_row *row;
		uint32_t node;

		if (!f)
			return false;
		node = flat_node_at(f, vaddr);
		row = flat_row_at(f, vaddr);
		if (node != NODE_NONE || (row && place->state == PLACE_EMPTY))
			*place = (struct place){ vaddr, f->nodes, node, row ? row->file : 0, row ? row->line : 0,
						 PLACE_FOUND };
		if (node != NODE_NONE)
			break;
	}
	return true;
}

static bool make_cache(struct lines *l)
{
	size_t n = sizeof(*l->cache) << CACHE_BITS;

	l->cache = aligned_alloc(2 * sizeof(*l->cache), n);
	if (l->cache)
		memset(l->cache, 0, n);
	return l->cache;
}

int lines_find(struct lines *l, uint64_t vaddr, struct lines_chain *chain)
{
	struct place *place, *other, found;

	if (!l->cache && !make_cache(l))
		return -1;
	place = &l->cache[vaddr * 0x9e3779b97f4a7c15 >> (64 - CACHE_BITS)];
	other = &l->cache[(place - l->cache) ^ 1];
	if (other->state != PLACE_UNKNOWN && other->vaddr == vaddr) {
		place = other;
	} else if (place->state == PLACE_UNKNOWN || place->vaddr != vaddr) {
		if (!find_place(l, vaddr, &found)) /* this may empty the cache */
			return -1;
		*other = *place;
		*place = found;
	}
	if (place->state == PLACE_EMPTY)
		return 0;
	fill_chain(chain, place);
	return 1;
}

struct slice lines_text(const struct lines *l, uint32_t id)
{
	return intern_get(&l->texts, id);
}

size_t lines_cut(const struct lines *l)
{
	return l->n_cut;
}

size_t lines_bytes(const struct lines *l)
{
	return names_bytes(l) + sizeof(*l) + (l->cache ? sizeof(*l->cache) << CACHE_BITS : 0) +
	       l->section_bytes + l->text_bytes + l->flat_bytes + l->libdw_bytes +
	       entries_bytes(&l->entries) + line_scratch_bytes(&l->scratch) +
	       l->cap_pieces * sizeof(*l->pieces) + l->cap_units * sizeof(*l->units) +
	       l->cap_spans * sizeof(*l->spans);
}

#else

enum lines_opened lines_open(const struct elf_file *f, const struct lines_options *options, struct lines **l)
{
	(void)f;
	(void)options;
	*l = NULL;
	return LINES_NONE;
}

void lines_close(struct lines *l)
{
	(void)l;
}

int lines_find(struct lines *l, uint64_t vaddr, struct lines_chain *chain)
{
	(void)l;
	(void)vaddr;
	(void)chain;
	return 0;
}

struct slice lines_text(const struct lines *l, uint32_t id)
{
	(void)l;
	(void)id;
	return slice_of("");
}

size_t lines_bytes(const struct lines *l)
{
	(void)l;
	return 0;
}

size_t lines_cut(const struct lines *l)
{
	(void)l;
	return 0;
}
#endif
