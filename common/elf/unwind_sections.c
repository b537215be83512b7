#include "common/elf/unwind_sections.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/search.h"
#include "common/elf/parts.h"
#include "common/elf/encoded.h"

/* A compiler's tables never compress better than this; a decompression bomb does. */
enum { COMPRESSION_MAX = 32, SEGMENTS_MAX = 1 << 16 };

bool unwind_sections_usable(const struct elf_file *f)
{
	GElf_Ehdr eh;

	return f->elf && gelf_getehdr(f->elf, &eh) && eh.e_machine == EM_X86_64 && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh.e_ident[EI_DATA] == ELFDATA2LSB && (eh.e_type == ET_DYN || eh.e_type == ET_EXEC);
}

static bool decompress_section(Elf_Scn *scn, const GElf_Shdr *sh)
{
	GElf_Chdr ch;

	return sh->sh_size <= ELF_PART_MAX && gelf_getchdr(scn, &ch) && ch.ch_size <= ELF_PART_MAX &&
	       ch.ch_size / COMPRESSION_MAX <= sh->sh_size && elf_compress(scn, 0, 0) >= 0;
}

bool section_find(const struct elf_file *f, const char *name, struct section *s)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, name, &sh);
	Elf_Data *data;

	if (!scn || sh.sh_type == SHT_NOBITS ||
	    ((sh.sh_flags & SHF_COMPRESSED) && !decompress_section(scn, &sh)))
		return false;
	data = elf_part(scn);
	if (!data || data->d_size == 0)
		return false;
	*s = (struct section){ { data->d_buf, data->d_size }, sh.sh_addr, false };
	return true;
}

bool section_lost(const struct elf_file *f, const char *name)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, name, &sh);
	struct stat st;

	return scn && sh.sh_type != SHT_NOBITS && !(sh.sh_flags & SHF_COMPRESSED) && sh.sh_size &&
	       sh.sh_size <= ELF_PART_MAX && fstat(f->fd, &st) == 0 && sh.sh_offset <= (uint64_t)st.st_size &&
	       sh.sh_size <= (uint64_t)st.st_size - sh.sh_offset && !elf_part(scn);
}

uint64_t section_vaddr(const struct elf_file *f, const char *name)
{
	GElf_Shdr sh;

	return elf_find_section(f->elf, name, &sh) ? sh.sh_addr : 0;
}

/* Returns the file's bytes that are loaded at this address, to the end of their segment. */
static bool bytes_at(const struct elf_file *f, uint64_t vaddr, struct slice *bytes)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0)
		return false;
	for (size_t i = 0; i < f->n_loaded; i++) {
		const struct elf_segment *seg = &f->loaded[i];
		uint64_t into = vaddr - seg->vaddr, at = seg->offset + into, n = seg->filesz - into;
		Elf_Data *data;

		if (vaddr < seg->vaddr || into >= seg->filesz || at < into || at >= (uint64_t)st.st_size)
			continue;
		n = n < (uint64_t)st.st_size - at ? n : (uint64_t)st.st_size - at;
		n = n < ELF_PART_MAX ? n : ELF_PART_MAX;
		data = elf_getdata_rawchunk(f->elf, (int64_t)at, n, ELF_T_BYTE);
		if (!data || !data->d_buf)
			return false;
		*bytes = (struct slice){ data->d_buf, data->d_size };
		return true;
	}
	return false;
}

/* Reads .eh_frame_hdr: version 1, the encodings of three values, then the address of .eh_frame. */
static bool by_header(const struct elf_file *f, uint64_t vaddr, struct section *s)
{
	struct slice header;
	struct encoded_bases bases;
	struct cursor c;

	if (!bytes_at(f, vaddr, &header) || header.n < 4 || header.p[0] != 1)
		return false;
	bases = (struct encoded_bases){ header.p, vaddr, 0, vaddr };
	c = cursor_over(header.p + 4, header.n - 4);
	if (!encoded_pointer(&c, header.p[1], &bases, &s->vaddr) || !bytes_at(f, s->vaddr, &s->bytes))
		return false;
	s->no_end = true;
	return true;
}

bool section_eh_frame(const struct elf_file *f, struct section *s)
{
	size_t n;

	if (section_find(f, ".eh_frame", s))
		return true;
	if (elf_getphdrnum(f->elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_GNU_EH_FRAME)
			return by_header(f, p.p_vaddr, s);
	}
	return false;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct elf_segment *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

bool code_map_init(struct code_map *m, const struct elf_file *f)
{
	*m = (struct code_map){ calloc(f->n_segments + 1, sizeof(*m->items)), 0 };
	if (!m->items)
		return false;
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec && s->filesz && s->vaddr + s->filesz > s->vaddr && s->offset + s->filesz > s->offset &&
		    s->offset + s->filesz <= INT64_MAX)
			m->items[m->n++] = *s;
	}
	qsort(m->items, m->n, sizeof(*m->items), by_vaddr);
	return true;
}

void code_map_release(struct code_map *m)
{
	free(m->items);
	*m = (struct code_map){ 0 };
}

bool code_map_offset(const struct code_map *m, uint64_t vaddr, uint64_t *offset, uint64_t *left)
{
	size_t low = SEARCH_COUNT(m->n, middle, m->items[middle].vaddr <= vaddr);

	if (low == 0 || vaddr - m->items[low - 1].vaddr >= m->items[low - 1].filesz)
		return false;
	*offset = m->items[low - 1].offset + (vaddr - m->items[low - 1].vaddr);
	*left = m->items[low - 1].filesz - (vaddr - m->items[low - 1].vaddr);
	return true;
}

static void add_range(struct code_range *ranges, size_t *n, uint64_t start, uint64_t size)
{
	if (size && start + size > start && start + size <= INT64_MAX)
		ranges[(*n)++] = (struct code_range){ start, start + size };
}

struct code_range *code_ranges(const struct elf_file *f, size_t *n)
{
	size_t sections = 0;
	struct code_range *ranges;
	Elf_Scn *scn = NULL;

	*n = 0;
	if (elf_getshdrnum(f->elf, &sections) != 0 || sections > ELF_SECTIONS_MAX)
		sections = 0;
	ranges = calloc(sections + f->n_segments + 1, sizeof(*ranges));
	for (size_t i = 1; ranges && i < sections && (scn = elf_nextscn(f->elf, scn)); i++) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR) && sh.sh_type == SHT_PROGBITS)
			add_range(ranges, n, sh.sh_offset, sh.sh_size);
	}
	for (size_t i = 0; ranges && sections == 0 && i < f->n_segments; i++) {
		if (f->segments[i].exec)
			add_range(ranges, n, f->segments[i].offset, f->segments[i].filesz);
	}
	return ranges;
}
