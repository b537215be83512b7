#ifdef HAVE_LIBDW
#include <elf.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/dwarf/unit.h"

enum {
	SECTIONS_BYTES_MAX = 1 << 30, /* bytes of DWARF, without compression */
	COMPRESS_ZSTD = 2,            /* ELFCOMPRESS_ZSTD, which only newer headers have */
};

static const char damaged[] = "damaged";

static int code_compare(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_code(struct code *code, size_t *cap, uint64_t start, uint64_t size)
{
	if (size == 0 || start + size < start)
		return true;
	if (!grow_array(&code->items, cap, code->n, sizeof(*code->items)))
		return false;
	code->items[code->n++] = (struct code_range){ start, start + size };
	return true;
}

bool code_find(struct code *code, Elf *elf, const struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	size_t cap = 0, kept = 0;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_ALLOC) && (sh.sh_flags & SHF_EXECINSTR) &&
		    !add_code(code, &cap, sh.sh_addr, sh.sh_size))
			return false;
	}
	for (size_t i = 0; cap == 0 && i < f->n_segments; i++) {
		if (f->segments[i].exec && !add_code(code, &cap, f->segments[i].vaddr, f->segments[i].memsz))
			return false;
	}
	if (code->n)
		qsort(code->items, code->n, sizeof(*code->items), code_compare);
	for (size_t i = 0; i < code->n; i++) {
		struct code_range *last = kept ? &code->items[kept - 1] : NULL;

		if (last && code->items[i].start <= last->end)
			last->end = code->items[i].end > last->end ? code->items[i].end : last->end;
		else
			code->items[kept++] = code->items[i];
	}
	code->n = kept;
	return true;
}

/* Returns true for the sections used here. The larger half of a file (variables, macros, indices) is not. */
static bool is_wanted(const char *name)
{
	static const char *const wanted[] = { "info", "abbrev", "line", "str", "line_str", "ranges", "rnglists", "addr",
					      "str_offsets" };

	name = strchr(name, '_');
	for (size_t i = 0; name && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(name + 1, wanted[i]) == 0)
			return true;
	}
	return false;
}

static void add_unread(struct lines_unread *unread, const char *why)
{
	if (unread && unread->n++ == 0)
		unread->why = why;
}

bool prepare_sections(Elf *elf, int fd, struct inflated *inflated, size_t *bytes, bool *info, struct lines_unread *unread)
{
	Elf_Scn *scn = NULL;
	size_t names, all = 0;

	*info = false;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		size_t n;

		if (!name || !strstr(name, "debug_") || sh.sh_type == SHT_NOBITS)
			continue;
		if (!is_wanted(name)) {
			sh.sh_type = SHT_NOBITS; /* in memory only: libdw skips such sections */
			if (!gelf_update_shdr(scn, &sh))
				return false;
			continue;
		}
		n = inflated_size(elf, fd, &sh, name);
		if (n > ELF_PART_MAX || (all += n) > SECTIONS_BYTES_MAX) {
			add_unread(unread, n == SIZE_MAX ? damaged : "too large");
			return false;
		}
		inflate_section(inflated, elf, fd, scn, n);
		*info |= strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
	}
	*bytes += all;
	return true;
}

/* Returns true if libelf has the section in its full size without compression. */
static bool is_read(Elf *elf, int fd, Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	Elf_Data *data = elf_part(scn);

	return data && !(sh->sh_flags & SHF_COMPRESSED) && data->d_size == inflated_size(elf, fd, sh, name);
}

static const char *find_fault(Elf_Scn *scn)
{
	GElf_Chdr ch;

	return gelf_getchdr(scn, &ch) && ch.ch_type == COMPRESS_ZSTD && elf_compress(scn, 0, 0) < 0 &&
	       strcmp(elf_errmsg(-1), "unknown compression type") == 0 ?
		       "compressed with zstd, which this build's libelf does not support" : damaged;
}

void count_unread(Elf *elf, int fd, struct lines_unread *unread)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (!unread || elf_getshdrstrndx(elf, &names) != 0)
		return;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strstr(name, "debug_") && sh.sh_type != SHT_NOBITS && sh.sh_size && is_wanted(name) &&
		    !is_read(elf, fd, scn, &sh, name))
			add_unread(unread, find_fault(scn));
	}
}

struct slice debug_section(Elf *elf, const char *name, const char *ending)
{
	static const char *const beginnings[] = { ".debug_", ".zdebug_" };
	struct slice none = slice_of("");

	for (unsigned int i = 0; i < 2; i++) {
		char full[64] = "";
		GElf_Shdr sh;
		Elf_Scn *scn;
		Elf_Data *data;

		strcat(strcat(strcat(full, beginnings[i]), name), ending);
		scn = elf_find_section(elf, full, &sh);
		data = scn ? elf_part(scn) : NULL;
		if (data)
			return (struct slice){ data->d_buf, data->d_size };
	}
	return none;
}

void home_find(struct home *home, Elf *elf, const char *ending)
{
	home->parts[HOME_INFO] = debug_section(elf, "info", ending);
	home->parts[HOME_STR] = debug_section(elf, "str", ending);
	home->parts[HOME_LINE_STR] = debug_section(elf, "line_str", ending);
}
#endif
