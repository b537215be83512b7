#ifdef HAVE_LIBDW
#include "common/dwarf/unit.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/elf/bounds.h"
#include "common/foreign/foreign.h"

enum {
	DEPTH_MAX = 1024,          /* entries nested more deeply are ignored */
	ORIGINS_MAX = 16,          /* references from a call to its name; two are usual */
	RANGES_MAX = 1 << 22,      /* per unit; each takes up to 80 bytes of memory */
	NODES_MAX = 1 << 23,       /* per unit: functions and inlined calls; one may take a byte of file */
	TEXTS_BYTES_MAX = 1 << 28, /* beyond this, new texts are "" */
	SPLIT_BYTES_MAX = 1 << 28, /* that libdw decompresses of a .dwo file: of one unit, mostly far below 1 MiB */
};

struct walk {
	struct lines *l;
	struct flat *flat;
	size_t n_pieces; /* used items of l->pieces */
	size_t n_ranges;
	struct slice comp_dir;
	uint64_t base; /* base address of ranges */
	bool based;    /* base is known */
	struct line_table *files; /* the table that file numbers refer to */
	uint32_t *paths;          /* by file: text id of its path + 1; 0: not made yet */
	struct buf path;
	bool is_c;   /* types contain no code */
	bool failed; /* out of memory */
	uint32_t around[DEPTH_MAX]; /* node at each depth; from here on not zeroed for each unit */
	uint8_t levels[DEPTH_MAX]; /* number of nested inlined calls at each depth */
};

bool text_number(struct lines *l, struct slice text, uint32_t *number)
{
	size_t before = l->texts.n;

	*number = 0;
	if (text.n > LINES_TEXT_MAX)
		text.n = LINES_TEXT_MAX;
	if (l->text_bytes > TEXTS_BYTES_MAX)
		return intern_find(&l->texts, text, number) || true;
	if (!intern_add(&l->texts, text, number))
		return false;
	if (l->texts.n > before)
		l->text_bytes += text.n + 1 + 2 * sizeof(struct slice);
	return true;
}

/* Returns true for forms that refer to the dwz file; libdw would look for one by itself. */
static bool is_elsewhere(unsigned int form)
{
	return form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt || form == DW_FORM_ref_sup4 ||
	       form == DW_FORM_ref_sup8 || form == DW_FORM_strp_sup;
}

static bool may_follow(const struct lines *l, const Dwarf_Attribute *a)
{
	return !is_elsewhere(a->form) || (l->alt_dwarf && dwarf_cu_getdwarf(a->cu) == l->dwarf);
}

/* Reads the text of an attribute, up to the end of its section, or its first LINES_TEXT_MAX bytes. */
static bool attribute_text(const struct lines *l, const struct attributes *all, enum wanted wanted,
			   struct slice *text)
{
	const struct home *homes[] = { &l->main, &l->other, &l->split };
	Dwarf_Attribute a = all->of[wanted];
	const char *s;

	if (!all->has[wanted] || !may_follow(l, &a))
		return false;
	s = dwarf_formstring(&a);
	for (unsigned int i = 0; s && i < 3 * HOME_PARTS; i++) {
		struct slice part = homes[i / HOME_PARTS]->parts[i % HOME_PARTS];
		const uint8_t *p = (const uint8_t *)s;

		if (!part.p || p < part.p || p >= part.p + part.n)
			continue;
		if (!text_at(p, part.p + part.n, text))
			text->n = 0;
		return text->n > 0;
	}
	return false;
}

/* Finds the DIE to which DW_AT_abstract_origin or DW_AT_specification refers. */
static bool origin_of(const struct lines *l, const struct attributes *a, Dwarf_Die *die)
{
	enum wanted wanted = a->has[WANT_ORIGIN] ? WANT_ORIGIN : WANT_SPECIFICATION;
	Dwarf_Attribute reference = a->of[wanted];

	return a->has[wanted] && may_follow(l, &reference) && reference.form != DW_FORM_ref_sig8 &&
	       dwarf_formref_die(&reference, die) != NULL;
}

/* Reads the attributes of an entry: directly if it is in this unit, otherwise with libdw. */
static bool read_entry(struct walk *w, Dwarf_Die *die, struct attributes *a)
{
	struct entry e;

	if (die->cu != w->l->entries.cu)
		return attributes_read(die, a);
	return entries_begin(&w->l->entries, die->addr, &e) && !e.ends_level && entries_pass(&w->l->entries, &e, a);
}

/* Returns the first linkage name on the way to the declaration, otherwise the first plain one. */
static uint32_t find_name(struct walk *w, struct attributes *a)
{
	struct slice text = { NULL, 0 }, plain = { NULL, 0 };
	uint32_t number = 0;
	Dwarf_Die die;

	for (unsigned int i = 0; i < ORIGINS_MAX; i++) {
		if (attribute_text(w->l, a, WANT_LINKAGE_NAME, &text))
			break;
		if (plain.n == 0)
			attribute_text(w->l, a, WANT_NAME, &plain);
		if (!origin_of(w->l, a, &die) || !read_entry(w, &die, a))
			break;
	}
	if (!text_number(w->l, text.n ? text : plain, &number))
		w->failed = true;
	return number;
}

/* Returns a function's name. The name of an inlined call's origin is cached, because many calls share it. */
static uint32_t name_of(struct walk *w, struct attributes *a)
{
	uint32_t number;
	Dwarf_Die die;

	if (a->has[WANT_LINKAGE_NAME] || a->has[WANT_NAME] || !origin_of(w->l, a, &die))
		return find_name(w, a);
	if (idmap_find(&w->l->names, (uintptr_t)die.addr, &number))
		return number;
	if (!read_entry(w, &die, a))
		return 0;
	number = find_name(w, a);
	if (!idmap_set(&w->l->names, (uintptr_t)die.addr, number))
		w->failed = true;
	return number;
}

static bool is_whole(struct slice path)
{
	return path.n && path.p[0] == '/';
}

static void add_to_path(struct buf *path, struct slice part)
{
	if (part.n == 0)
		return;
	if (path->n && path->p[path->n - 1] != '/')
		buf_byte(path, '/');
	buf_bytes(path, part.p, part.n);
}

/* Returns the text id of a file's path, or 0 if there is no such file. */
static uint32_t path_of(struct walk *w, uint64_t file)
{
	struct line_file f;
	uint32_t number = 0;

	if (file >= w->files->n_files)
		return 0;
	if (w->paths[file])
		return w->paths[file] - 1;
	f = w->files->files[file];
	buf_clear(&w->path);
	if (f.name.n && f.name.n + f.directory.n + w->comp_dir.n < LINES_TEXT_MAX) {
		if (!is_whole(f.name) && !is_whole(f.directory) && !(f.compilers && f.directory.n))
			add_to_path(&w->path, w->comp_dir);
		if (!is_whole(f.name))
			add_to_path(&w->path, f.directory);
		add_to_path(&w->path, f.name);
	}
	if (w->path.failed || !text_number(w->l, buf_view(&w->path), &number))
		w->failed = true;
	w->paths[file] = number + 1;
	return number;
}

static uint64_t number_of(const struct attributes *all, enum wanted wanted, uint64_t otherwise)
{
	Dwarf_Attribute a = all->of[wanted];
	Dwarf_Word v;

	return all->has[wanted] && dwarf_formudata(&a, &v) == 0 ? v : otherwise;
}

static void add_pieces(struct walk *w, Dwarf_Die *die, const struct attributes *a, uint32_t node)
{
	struct range_walk walk = { .base = w->base, .based = w->based };
	struct code_range range;

	while (w->n_ranges < RANGES_MAX && range_next(w->l, die, a, &walk, &range)) {
		w->n_ranges++;
		if (range.start == range.end)
			continue;
		if (!grow_array(&w->l->pieces, &w->l->cap_pieces, w->n_pieces, sizeof(*w->l->pieces))) {
			w->failed = true;
			return;
		}
		w->l->pieces[w->n_pieces++] = (struct flat_piece){ range.start, range.end, node };
	}
	w->flat->cut = w->flat->cut || w->n_ranges >= RANGES_MAX;
}

static uint32_t add_node(struct walk *w, Dwarf_Die *die, struct attributes *a, uint32_t parent)
{
	struct flat *f = w->flat;
	uint32_t node = (uint32_t)f->n_nodes, line = 0, file = 0;

	if (f->n_nodes >= NODES_MAX) {
		f->cut = true;
		return parent;
	}
	if (!grow_array(&f->nodes, &f->cap_nodes, f->n_nodes, sizeof(*f->nodes))) {
		w->failed = true;
		return NODE_NONE;
	}
	f->n_nodes++;
	add_pieces(w, die, a, node);
	if (parent != NODE_NONE) {
		line = (uint32_t)number_of(a, WANT_CALL_LINE, 0);
		file = path_of(w, number_of(a, WANT_CALL_FILE, UINT64_MAX));
	}
	f->nodes[node] = (struct flat_node){ parent, name_of(w, a), file, line };
	return node;
}

/* Returns the node of the children of a function or call: its own, or the one around it. */
static uint32_t visit_entry(struct walk *w, const struct entry *e, struct attributes *a, size_t depth)
{
	Dwarf_Die die = { .addr = (void *)(uintptr_t)e->p, .cu = w->l->entries.cu };
	uint32_t around = w->around[depth];
	bool has_code = a->has[WANT_LOW_PC] || a->has[WANT_RANGES];

	if (e->is.tag == DW_TAG_subprogram) {
		w->levels[depth + 1] = 1;
		/* Without code it is a declaration or an abstract instance. */
		return has_code ? add_node(w, &die, a, NODE_NONE) : NODE_NONE;
	}
	if (w->levels[depth] >= LINES_LEVELS_MAX)
		return around;
	if (around == NODE_NONE && !has_code)
		return NODE_NONE; /* inside an abstract instance */
	w->levels[depth + 1]++;
	return add_node(w, &die, a, around);
}

/* Returns true if there may be code among the children of such an entry. */
static bool has_code(const struct walk *w, int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return !w->is_c;
	default:
		return false;
	}
}

/* Processes an entry and enters or skips its children. Returns false if the entry cannot be decoded. */
static bool walk_entry(struct walk *w, struct entry *e, size_t *depth, size_t *ignored)
{
	bool enter = *ignored == 0 && *depth + 2 < DEPTH_MAX && has_code(w, (int)e->is.tag);
	bool asked = enter && (e->is.tag == DW_TAG_subprogram || e->is.tag == DW_TAG_inlined_subroutine);
	struct attributes a;

	if (!entries_pass(&w->l->entries, e, asked ? &a : NULL))
		return false;
	if (enter) {
		w->levels[*depth + 1] = w->levels[*depth];
		w->around[*depth + 1] = asked ? visit_entry(w, e, &a, *depth) : w->around[*depth];
	}
	if (!e->is.children)
		return true;
	if (enter)
		++*depth;
	else if (e->sibling)
		e->next = e->sibling;
	else
		++*ignored;
	return true;
}

/* Walks the whole unit in one pass. Each step goes to a higher address, even in a damaged unit. */
static void walk_tree(struct walk *w, const Dwarf_Die *unit)
{
	struct entries *es = &w->l->entries;
	size_t depth = 0, ignored = 0; /* levels entered, and ignored levels below them */
	struct entry e;

	w->around[0] = NODE_NONE;
	w->levels[0] = 0;
	if (!entries_begin(es, unit->addr, &e) || e.ends_level || !e.is.children ||
	    !entries_pass(es, &e, NULL))
		return;
	while (!w->failed && entries_begin(es, e.next, &e)) {
		if (!e.ends_level) {
			if (!walk_entry(w, &e, &depth, &ignored))
				return;
		} else if (ignored) {
			ignored--;
		} else if (depth-- == 0) {
			return;
		}
	}
}

/* Returns the size of all compressed sections after decompression. libdw decompresses all that it knows. */
static size_t packed_size(Elf *elf, int fd)
{
	Elf_Scn *scn = NULL;
	size_t names, all = 0;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		size_t n = name ? inflated_size(elf, fd, &sh, name) : 0;

		if (name && ((sh.sh_flags & SHF_COMPRESSED) || n != sh.sh_size) && __builtin_add_overflow(all, n, &all))
			return SIZE_MAX;
	}
	return all;
}

/*
 * Returns 1 for a regular file within the limits of bounds.h, of which libdw decompresses SPLIT_BYTES_MAX at
 * most, on a file system where libdw's own open cannot wait for another user; 0 if there is no file;
 * otherwise -1. Adds the bytes that libdw decompresses to *bytes.
 */
static int is_harmless(const char *path, size_t *bytes)
{
	int fd = foreign_open(AT_FDCWD, path);
	bool good = fd >= 0 && !foreign_is_copy(fd) && !elf_refusal(elf_check_bounds(fd));
	enum elf_opened why;
	Elf *elf = good ? elf_begin_bounded(fd, &why) : NULL;
	size_t n = elf ? packed_size(elf, fd) : 0;

	elf_end(elf);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	close(fd);
	if (!good || n > SPLIT_BYTES_MAX)
		return -1;
	*bytes += n;
	return 1;
}

/*
 * Returns false if libdw could hang or use up memory with the package of .dwo files next to the file itself.
 * From version 0.191 on, libdw opens it once, before any of them.
 */
static bool may_open_package(struct lines *l)
{
	struct buf path = { 0 };

	if (l->package == PACKAGE_NEW) {
		buf_text(&path, l->path);
		buf_text(&path, ".dwp");
		l->package = is_harmless(buf_cstr(&path), &l->libdw_bytes) < 0 ? PACKAGE_REFUSED : PACKAGE_HARMLESS;
		buf_release(&path);
	}
	return l->package == PACKAGE_HARMLESS;
}

/* Returns true if there is a file that libdw may open, and none that could make it hang or use up memory. */
static bool split_file(struct lines *l, struct slice comp_dir, struct slice name)
{
	size_t directory = (size_t)(strrchr(l->path, '/') - l->path) + 1, bytes = 0;
	unsigned int n_files = 0, n_others = 0;
	struct buf path = { 0 };

	if (!may_open_package(l))
		return false;
	for (unsigned int i = 0; i < 2; i++) {
		int harmless;

		buf_clear(&path);
		if (!is_whole(name) && !(i == 1 && is_whole(comp_dir)))
			buf_bytes(&path, l->path, directory);
		if (!is_whole(name) && i == 1)
			add_to_path(&path, comp_dir);
		add_to_path(&path, name);
		harmless = is_harmless(buf_cstr(&path), &bytes);
		n_files += harmless > 0;
		n_others += harmless < 0;
	}
	buf_release(&path);
	if (!n_files || n_others)
		return false;
	l->libdw_bytes += bytes;
	return true;
}

/* Finds the unit's DIE in the .dwo file, and switches to the entries of that file. */
static bool split_unit(struct walk *w, const Dwarf_Die *skeleton, const struct attributes *a, Dwarf_Die *die)
{
	struct lines *l = w->l;
	struct slice name, *info = &l->split.parts[HOME_INFO];
	struct attributes dummy;
	Dwarf_Off offset, next, abbrevs;
	size_t header;
	Dwarf *split;
	uint8_t type;

	if (!l->path || !attribute_text(l, a, WANT_DWO_NAME, &name) || !split_file(l, w->comp_dir, name) ||
	    dwarf_cu_info(skeleton->cu, NULL, &type, NULL, die, NULL, NULL, NULL) != 0 || type != DW_UT_skeleton ||
	    !die->addr || !attributes_read(die, &dummy))
		return false;
	split = dwarf_cu_getdwarf(die->cu);
	home_find(&l->split, dwarf_getelf(split), ".dwo");
	l->libdw_bytes += info->n + l->split.parts[HOME_STR].n;
	offset = dwarf_dieoffset(die);
	if (dwarf_next_unit(split, offset - dwarf_cuoffset(die), &next, &header, NULL, &abbrevs, NULL, NULL, NULL, NULL) != 0)
		return false;
	return entries_use(&l->entries, debug_section(dwarf_getelf(split), "abbrev", ".dwo"), abbrevs, die,
			   info->p + (next < info->n ? next : info->n));
}

static bool use_files(struct walk *w, struct line_table *table)
{
	free(w->paths);
	w->files = table;
	w->paths = calloc(table->n_files + 1, sizeof(*w->paths));
	return w->paths != NULL;
}

/* Uses the .dwo file's own table for its file numbers if it has one; otherwise the skeleton's applies. */
static bool use_split_files(struct walk *w, const Dwarf_Die *die, struct line_table *table)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	struct line_sections s = {
		.line = debug_section(elf, "line", ".dwo"),
		.line_str = w->l->split.parts[HOME_LINE_STR],
		.str = w->l->split.parts[HOME_STR],
	};

	return line_table_read(table, &s, 0, NULL, &w->l->scratch) && (table->n_files == 0 || use_files(w, table));
}

static bool move_rows(struct walk *w, struct line_table *table)
{
	struct line_row *smaller;

	for (size_t i = 0; i < table->n_rows; i++) {
		if (table->rows[i].file != ROW_GAP)
			table->rows[i].file = path_of(w, table->rows[i].file);
	}
	smaller = table->n_rows ? realloc(table->rows, table->n_rows * sizeof(*table->rows)) : NULL;
	w->flat->rows = smaller ? smaller : table->rows;
	w->flat->n_rows = table->n_rows;
	table->rows = NULL;
	table->n_rows = 0;
	return !w->failed;
}

static bool is_c(uint64_t language)
{
	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11;
}

static bool walk_unit(struct walk *w, const struct unit *u, struct line_table *table, struct line_table *split_table)
{
	struct lines *l = w->l;
	struct attributes a;
	Dwarf_Die die, split;
	uint64_t at;

	if (!dwarf_offdie(l->dwarf, u->die, &die) ||
	    !entries_use(&l->entries, l->abbrevs, u->abbrevs, &die, l->main.parts[HOME_INFO].p + u->end) ||
	    !read_entry(w, &die, &a))
		return use_files(w, table);
	attribute_text(l, &a, WANT_COMP_DIR, &w->comp_dir);
	w->is_c = is_c(number_of(&a, WANT_LANGUAGE, 0));
	at = number_of(&a, WANT_STMT_LIST, UINT64_MAX);
	if ((at != UINT64_MAX && !line_table_read(table, &l->sections, at, &l->code, &l->scratch)) || !use_files(w, table) ||
	    !move_rows(w, table))
		return false;
	w->base = unit_base(&a);
	w->based = true;
	if (a.has[WANT_DWO_NAME] && split_unit(w, &die, &a, &split)) {
		if (!use_split_files(w, &split, split_table))
			return false;
		w->based = false;
		die = split;
	}
	walk_tree(w, &die);
	return !w->failed && !l->entries.failed && flat_settle(w->flat, l->pieces, w->n_pieces);
}

struct flat *unit_flatten(struct lines *l, const struct unit *u)
{
	struct walk *w = malloc(sizeof(*w));
	struct flat *f = calloc(1, sizeof(*f));
	struct line_table table = { 0 }, split_table = { 0 };

	if (w)
		memset(w, 0, offsetof(struct walk, around));
	l->entries.failed = false;
	if (w && f) {
		w->l = l;
		w->flat = f;
		l->split = (struct home){ 0 };
		if (!walk_unit(w, u, &table, &split_table))
			w->failed = true;
		l->work += u->end - u->die + f->n_nodes + w->n_ranges + table.work + split_table.work;
		f->cut = f->cut || table.cut || split_table.cut;
	}
	if (!w || !f || w->failed) {
		flat_free(f);
		f = NULL;
	}
	line_table_release(&table);
	line_table_release(&split_table);
	if (w) {
		free(w->paths);
		buf_release(&w->path);
	}
	free(w);
	return f;
}
#endif
