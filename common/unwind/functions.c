#include "common/unwind/functions.h"

#include <limits.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/radix.h"
#include "common/base/search.h"
#include "common/elf/parts.h"
#include "common/elf/unwind_sections.h"
#include "common/unwind/cfi.h"

/* Bytes of a symbol table: five million symbols, more than any program has. */
enum { SYMBOLS_MAX = 1 << 27 };
/* Bytes between functions that are more than padding. */
enum { GAP_LEAST = 16 };

/* Appends a range; if several start at one address the longest remains. */
static void append_range(struct function_list *l, struct function_range r)
{
	struct function_range *last = l->n ? &l->items[l->n - 1] : NULL;

	if (last && last->start == r.start) {
		last->end = r.end > last->end ? r.end : last->end;
		return;
	}
	if (last && last->end > r.start)
		last->end = r.start;
	l->items[l->n++] = r;
}

/* Sorts the ranges. Returns false if out of memory. */
static bool sort_ranges(struct function_list *l)
{
	struct function_range *items = malloc((l->n + 1) * sizeof(*items));
	struct radix_item *keys = malloc((l->n + 1) * 2 * sizeof(*keys)), *sorted;
	struct function_list in_order = { items, 0, l->n + 1 };
	bool good = items && keys && l->n <= UINT32_MAX;

	for (size_t i = 0; good && i < l->n; i++)
		keys[i] = (struct radix_item){ l->items[i].start, (uint32_t)i };
	sorted = good ? radix_sort(keys, keys + l->n + 1, l->n) : NULL;
	for (size_t i = 0; good && i < l->n; i++)
		append_range(&in_order, l->items[sorted[i].value]);
	free(keys);
	if (!good) {
		free(items);
		return false;
	}
	free(l->items);
	*l = in_order;
	return true;
}

/* Appends a range that no function covers, if it is more than padding. Returns false if out of memory. */
static bool append_gap(struct function_list *l, uint64_t start, uint64_t end)
{
	if (start >= end || end - start < GAP_LEAST)
		return true;
	if (!extend_array(&l->items, &l->cap, l->n, sizeof(*l->items)))
		return false;
	l->items[l->n++] = (struct function_range){ start, end };
	return true;
}

/* Appends what the first n ranges leave out of a section. *left: steps that may still be taken. */
static bool append_gaps(struct function_list *l, size_t n, uint64_t start, uint64_t end, size_t *left)
{
	struct function_list functions = { l->items, n, 0 };
	bool good = true;
	size_t i;

	if (functions_find(&functions, start, &i))
		start = l->items[i].end;
	for (i++; good && i < n && l->items[i].start < end && *left; i++, (*left)--) {
		good = append_gap(l, start, l->items[i].start);
		start = l->items[i].end;
	}
	return good && (!*left || append_gap(l, start, end));
}

/* Adds the code of executable sections that no function covers, mostly assembly: as one range between two others. */
static bool add_gaps(const struct elf_file *f, struct function_list *l)
{
	Elf_Scn *scn = NULL;
	size_t n = l->n, left = n + 1; /* sections that overlap, which no linker makes, could take n steps each */
	bool good = true;
	GElf_Shdr sh;

	for (size_t seen = 0; good && n && seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR) && (sh.sh_flags & SHF_ALLOC) &&
		    sh.sh_addr + sh.sh_size > sh.sh_addr)
			good = append_gaps(l, n, sh.sh_addr, sh.sh_addr + sh.sh_size, &left);
	}
	return good && (l->n == n || sort_ranges(l));
}

bool functions_read(const struct elf_file *f, struct function_list *l)
{
	struct cfi cfi = { .source = SPAN_EH_FRAME };
	struct code_map code;
	bool good;

	*l = (struct function_list){ 0 };
	if (!unwind_sections_usable(f) || !section_eh_frame(f, &cfi.section))
		return true;
	if (!code_map_init(&code, f))
		return false;
	cfi.code = &code;
	cfi.bases = cfi_bases(f, &cfi.section);
	good = cfi_functions(&cfi, l) && sort_ranges(l) && add_gaps(f, l);
	code_map_release(&code);
	if (!good)
		functions_release(l);
	return good;
}

/* Appends the functions of a symbol table. */
static bool read_symbols(Elf_Scn *scn, struct function_list *l, function_wanted *wanted, const void *arg)
{
	Elf_Data *data = elf_part(scn);
	size_t n = data ? data->d_size / sizeof(Elf64_Sym) : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n && i <= INT_MAX; i++) {
		struct function_range r;

		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF ||
		    sym.st_size == 0 || sym.st_value + sym.st_size < sym.st_value)
			continue;
		r = (struct function_range){ sym.st_value, sym.st_value + sym.st_size };
		if (wanted && !wanted(arg, &r))
			continue;
		if (!extend_array(&l->items, &l->cap, l->n, sizeof(*l->items)))
			return false;
		l->items[l->n++] = r;
	}
	return true;
}

bool functions_of_symbols(const struct elf_file *f, struct function_list *l, function_wanted *wanted, const void *arg)
{
	Elf_Scn *scn = NULL;
	bool good = true;
	GElf_Shdr sh;

	*l = (struct function_list){ 0 };
	if (!unwind_sections_usable(f))
		return true;
	for (size_t seen = 0; good && seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (gelf_getshdr(scn, &sh) && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) && sh.sh_size <= SYMBOLS_MAX)
			good = read_symbols(scn, l, wanted, arg);
	}
	good = good && sort_ranges(l);
	if (!good)
		functions_release(l);
	return good;
}

void functions_release(struct function_list *l)
{
	free(l->items);
	*l = (struct function_list){ 0 };
}

bool functions_find(const struct function_list *l, uint64_t vaddr, size_t *i)
{
	size_t low = SEARCH_COUNT(l->n, middle, l->items[middle].start <= vaddr);

	*i = low - 1;
	return low > 0 && vaddr < l->items[low - 1].end;
}
