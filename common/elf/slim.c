#include "common/elf/slim.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/elf/mapped.h"
#include "common/elf/parts.h"
#include "common/elf/slim_internal.h"

enum {
	SECTIONS_MAX = 1 << 17,
	NOTES_MAX = 1 << 16,   /* bytes of notes in a segment or a section */
	NAME_BYTES_MAX = 255,  /* bytes of a section's name */
	FILTERED_MAX = 1 << 26,
	RELA_SIZE = 24,
	NOTE_TYPE = 0x100,
};

static const char *section_name(const struct slim_input *in, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(in->file->elf, in->names, sh->sh_name);

	return name ? name : "";
}

static uint64_t key_of(const char *name, uint64_t address)
{
	return hash_bytes(name, strnlen(name, NAME_BYTES_MAX)) ^ hash_u64(address);
}

static bool section_at(const struct slim_input *in, size_t i, GElf_Shdr *sh)
{
	Elf_Scn *scn = i < in->n ? elf_getscn(in->file->elf, i) : NULL;

	return scn && gelf_getshdr(scn, sh);
}

/* Returns true if the section has bytes and all of them are in the file. */
static bool has_bytes(const struct slim_input *in, const GElf_Shdr *sh)
{
	return sh->sh_type != SHT_NOBITS && sh->sh_type != SHT_NULL && sh->sh_size &&
	       sh->sh_offset <= in->size && sh->sh_size <= in->size - sh->sh_offset;
}

static enum slim_result open_input(struct slim_input *in, const struct elf_file *f)
{
	struct stat st;
	GElf_Shdr sh;

	in->file = f;
	if (!f)
		return SLIM_DONE;
	if (fstat(f->fd, &st) != 0 || elf_getshdrnum(f->elf, &in->n) != 0 || in->n > SECTIONS_MAX)
		return SLIM_DAMAGED;
	in->size = (uint64_t)st.st_size;
	if (elf_getshdrstrndx(f->elf, &in->names) != 0)
		in->names = 0;
	in->strings = calloc(in->n + 1, 1);
	in->becomes = calloc(in->n + 1, sizeof(*in->becomes));
	if (!in->strings || !in->becomes)
		return SLIM_NO_MEMORY;
	for (size_t i = 1; i < in->n; i++) {
		if (!section_at(in, i, &sh))
			return SLIM_DAMAGED;
		if ((sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) && sh.sh_link < in->n)
			in->strings[sh.sh_link] = 1;
		if (!idmap_set(&in->index, key_of(section_name(in, &sh), sh.sh_addr), (uint32_t)i))
			return SLIM_NO_MEMORY;
	}
	return SLIM_DONE;
}

static void release_input(struct slim_input *in)
{
	free(in->strings);
	free(in->becomes);
	idmap_release(&in->index);
}

/* Returns the number of the section with this name and address, or 0. */
static size_t find_section(const struct slim_input *in, const char *name, uint64_t address, GElf_Shdr *sh)
{
	uint32_t i;

	if (!in->file || !idmap_find(&in->index, key_of(name, address), &i) || !section_at(in, i, sh) ||
	    sh->sh_addr != address || strcmp(section_name(in, sh), name) != 0)
		return 0;
	return i;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (strcmp(name, *list) == 0)
			return true;
	}
	return false;
}

static bool starts_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/*
 * Returns true for the sections that Go's tables refer to. The trees of inlined functions are in .rodata, to
 * which moduledata points; a C linker puts all of it into .data.rel.ro, as relocations.
 */
static bool is_go_part(const char *name)
{
	static const char *const parts[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".rodata", ".noptrdata", ".data",
					     ".data.rel.ro", ".rela.dyn", ".rela", NULL };

	return is_one_of(name, parts) || starts_with(name, ".go.");
}

static bool is_wanted(const struct slim *s, const struct slim_input *in, size_t i, const GElf_Shdr *sh,
		      const char *name)
{
	static const char *const plt[] = { ".plt", ".plt.sec", ".plt.got", ".iplt", ".rela.plt", ".rel.plt",
					   ".interp", NULL };
	static const char *const frames[] = { ".gnu_debugdata", ".eh_frame", ".eh_frame_hdr", NULL };

	if (strcmp(name, ".note.cprof") == 0)
		return false;
	switch (sh->sh_type) {
	case SHT_SYMTAB:
	case SHT_SYMTAB_SHNDX:
	case SHT_DYNSYM:
		return true;
	case SHT_NOTE:
		return sh->sh_size <= NOTES_MAX &&
		       ((sh->sh_flags & SHF_ALLOC) || strcmp(name, ".note.gnu.build-id") == 0);
	}
	if (in->strings[i] || is_one_of(name, plt) || (s->rela_dyn && strcmp(name, ".rela.dyn") == 0))
		return true;
	if (!s->symtab && is_one_of(name, frames))
		return true;
	if (s->go && is_go_part(name))
		return true;
	return s->dwarf && (starts_with(name, ".debug_") || starts_with(name, ".zdebug_") ||
			    strcmp(name, ".gnu_debugaltlink") == 0);
}

/* Keeps only relocations of slots that stubs jump through. Returns false if there are none, or on failure. */
static bool filter_relocations(const struct slim *s, const struct slim_input *in, struct piece *p)
{
	struct buf kept = { 0 };
	struct mapped all;

	if (p->sh.sh_size > FILTERED_MAX || !s->wide || s->big ||
	    !mapped_open(&all, in->file->fd, p->sh.sh_offset, p->sh.sh_size))
		return false;
	for (size_t at = 0; at + RELA_SIZE <= all.n; at += RELA_SIZE) {
		uint32_t type = le32_load(all.p + at + 8);

		if (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_IRELATIVE)
			buf_bytes(&kept, all.p + at, RELA_SIZE);
	}
	mapped_close(&all);
	if (kept.failed || !kept.n) {
		buf_release(&kept);
		return false;
	}
	p->own = kept.p;
	p->sh.sh_size = kept.n;
	return true;
}

static void note_what(struct slim *s, const GElf_Shdr *sh, const char *name)
{
	if (sh->sh_type == SHT_SYMTAB)
		s->holds |= ARCHIVED_SYMTAB;
	else if (sh->sh_type == SHT_DYNSYM)
		s->holds |= ARCHIVED_DYNSYM;
	else if (strcmp(name, ".gnu_debugdata") == 0 || strcmp(name, ".eh_frame") == 0)
		s->holds |= ARCHIVED_FRAMES;
	else if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0)
		s->holds |= ARCHIVED_DWARF;
	else if (s->go && (strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0))
		s->holds |= ARCHIVED_GO;
}

/* Removes the bytes of a section, which keeps its number, address, size and original offset. */
static void strip_bytes(struct piece *p)
{
	p->sh.sh_type = p->sh.sh_type == SHT_NULL ? SHT_NULL : SHT_NOBITS;
	p->sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	free(p->own);
	p->own = NULL;
}

/* Gives the piece the header and the bytes of section i of the input. */
static enum slim_result fill_piece(struct slim *s, struct slim_input *in, size_t i, const GElf_Shdr *sh,
				   const char *name, struct piece *p, size_t number)
{
	GElf_Word name_at = p->sh.sh_name;

	p->sh = *sh;
	p->sh.sh_name = name_at;
	p->input = in;
	p->at = sh->sh_offset;
	in->becomes[i] = (uint32_t)number;
	if (!s->go && strcmp(name, ".rela.dyn") == 0 && !filter_relocations(s, in, p)) {
		strip_bytes(p);
		return SLIM_DONE;
	}
	s->kept += p->sh.sh_size;
	note_what(s, sh, name);
	/* Real files have no overlapping sections; a crafted file's can add up to 1000 times its size. */
	return s->kept <= s->base.size + s->other.size + NOTES_MAX ? SLIM_DONE : SLIM_DAMAGED;
}

static struct piece *add_piece(struct slim *s, const char *name)
{
	size_t n = strnlen(name, NAME_BYTES_MAX);
	struct piece *p;

	if (!grow_array(&s->pieces, &s->cap, s->n, sizeof(*s->pieces)))
		return NULL;
	p = &s->pieces[s->n++];
	*p = (struct piece){ .sh = { .sh_name = (GElf_Word)s->names.n } };
	buf_bytes(&s->names, name, n);
	buf_byte(&s->names, 0);
	return s->names.failed ? NULL : p;
}

/*
 * Returns true if a section can keep its bytes under its own number. For a loaded section, its offset must
 * stay within the bytes of its segment, or gdb warns. That holds if the segment begins at offset 0, because
 * kept sections only move towards the beginning of the file.
 */
static bool can_keep_bytes(const struct slim *s, const GElf_Shdr *sh)
{
	for (size_t i = 0; i < s->n_segments && (sh->sh_flags & SHF_ALLOC); i++) {
		const GElf_Phdr *ph = &s->segments[i];

		if (ph->p_type == PT_LOAD && ph->p_offset == 0 && sh->sh_offset < ph->p_filesz &&
		    sh->sh_size <= ph->p_filesz - sh->sh_offset && sh->sh_addr - ph->p_vaddr == sh->sh_offset)
			return true;
	}
	return !(sh->sh_flags & SHF_ALLOC);
}

/* Appends a section that only the other file has, or that cannot keep its bytes under its own number. */
static enum slim_result append_section(struct slim *s, struct slim_input *in, size_t i, const GElf_Shdr *sh,
				       const char *name)
{
	struct piece *p = add_piece(s, name);
	enum slim_result result = p ? fill_piece(s, in, i, sh, name, p, s->n - 1) : SLIM_NO_MEMORY;

	if (p)
		p->sh.sh_flags &= ~(GElf_Xword)SHF_ALLOC;
	return result;
}

/* Returns true if append_section made it when this file was written. It goes with its original section. */
static bool is_copy(const struct slim_input *in, const GElf_Shdr *sh)
{
	return in->file->archived && sh->sh_addr && !(sh->sh_flags & SHF_ALLOC);
}

/* Finds the bytes for a section of the base: its own, those of its copy, or those of the other file. */
static size_t bytes_of(struct slim *s, size_t i, const char *name, GElf_Shdr *sh, struct slim_input **from)
{
	uint64_t address = sh->sh_addr;
	GElf_Shdr found;
	size_t at;

	*from = &s->base;
	if (has_bytes(&s->base, sh))
		return i;
	at = find_section(&s->base, name, address, &found);
	if (!at || at == i || !has_bytes(&s->base, &found)) {
		at = find_section(&s->other, name, address, &found);
		*from = &s->other;
	}
	if (at)
		*sh = found;
	return at;
}

/* Adds section i of the base. */
static enum slim_result add_base(struct slim *s, size_t i)
{
	GElf_Shdr sh, whole;
	struct slim_input *from;
	struct piece *p;
	const char *name;
	size_t at;

	if (!section_at(&s->base, i, &sh))
		return SLIM_DAMAGED;
	name = section_name(&s->base, &sh);
	if (is_copy(&s->base, &sh))
		return SLIM_DONE;
	whole = sh;
	at = bytes_of(s, i, name, &whole, &from);
	p = &s->pieces[i];
	sh.sh_name = p->sh.sh_name;
	p->sh = sh;
	p->input = &s->base;
	s->base.becomes[i] = (uint32_t)i;
	if (at && from == &s->other) {
		s->other.becomes[at] = (uint32_t)i;
		p->sh.sh_offset = whole.sh_offset; /* a debug file has lost the offset */
		if (s->other.file->archived)
			whole.sh_flags |= sh.sh_flags & SHF_ALLOC;
	}
	strip_bytes(p);
	if (!at || !has_bytes(from, &whole) || !is_wanted(s, from, at, &whole, name)) {
		if (starts_with(name, ".gnu_debug")) /* readers would take it for a link to the file "" */
			p->sh.sh_name = 0;
		return SLIM_DONE;
	}
	return can_keep_bytes(s, &whole) ? fill_piece(s, from, at, &whole, name, p, i) : append_section(s, from, at, &whole, name);
}

/* Adds all sections of the base by name first, so that they keep their numbers when others are appended. */
static enum slim_result add_numbers(struct slim *s)
{
	GElf_Shdr sh;

	if (!add_piece(s, ""))
		return SLIM_NO_MEMORY;
	for (size_t i = 1; i < s->base.n; i++) {
		bool hide = i == s->base.names && !s->base.strings[i];

		if (!section_at(&s->base, i, &sh))
			return SLIM_DAMAGED;
		if (!add_piece(s, hide || is_copy(&s->base, &sh) ? "" : section_name(&s->base, &sh)))
			return SLIM_NO_MEMORY;
	}
	return SLIM_DONE;
}

/* Adds the sections that only the other file has. */
static enum slim_result add_others(struct slim *s)
{
	enum slim_result result = SLIM_DONE;

	for (size_t i = 1; result == SLIM_DONE && i < s->other.n; i++) {
		const char *name;
		GElf_Shdr sh;
		uint32_t at;

		if (!section_at(&s->other, i, &sh))
			return SLIM_DAMAGED;
		name = section_name(&s->other, &sh);
		if (s->other.becomes[i] || is_copy(&s->other, &sh))
			continue;
		if (idmap_find(&s->base.index, key_of(name, sh.sh_addr), &at))
			s->other.becomes[i] = s->base.becomes[at];
		else if (has_bytes(&s->other, &sh) && is_wanted(s, &s->other, i, &sh, name))
			result = append_section(s, &s->other, i, &sh, name);
	}
	return result;
}

/* Adds .note.cprof, then the section names, in place of the old ones unless symbols use those strings. */
static enum slim_result add_own(struct slim *s)
{
	struct buf note = { 0 };
	struct piece *p = add_piece(s, ".note.cprof");

	if (!p)
		return SLIM_NO_MEMORY;
	slim_number(&note, s, 6, 4);
	slim_number(&note, s, 8, 4);
	slim_number(&note, s, NOTE_TYPE, 4);
	buf_bytes(&note, "cprof\0\0", 8);
	for (unsigned int i = 0; i < 8; i++)
		buf_byte(&note, (uint8_t)((i < 4 ? (uint64_t)ARCHIVED_VERSION : s->holds) >> 8 * (i % 4)));
	p->sh.sh_type = SHT_NOTE;
	p->sh.sh_size = note.n;
	p->sh.sh_addralign = 4;
	p->own = note.p;
	if (note.failed)
		return SLIM_NO_MEMORY;
	s->names_at = s->base.names;
	if (s->names_at == 0 || s->names_at >= s->base.n || s->base.strings[s->names_at]) {
		s->names_at = s->n;
		if (!add_piece(s, ""))
			return SLIM_NO_MEMORY;
	}
	p = &s->pieces[s->names_at];
	p->sh = (GElf_Shdr){ .sh_name = (GElf_Word)s->names.n, .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	buf_bytes(&s->names, ".shstrtab", 10);
	p->sh.sh_size = s->names.n;
	p->own = s->names.p;
	s->names = (struct buf){ .failed = s->names.failed };
	return p->own ? SLIM_DONE : SLIM_NO_MEMORY;
}

/* Converts section numbers in the headers from those of their input to those of the new file. */
static void renumber_links(struct slim *s)
{
	for (size_t i = 1; i < s->n; i++) {
		GElf_Shdr *sh = &s->pieces[i].sh;
		const struct slim_input *in = s->pieces[i].input;

		if (!in)
			continue;
		sh->sh_link = sh->sh_link < in->n ? in->becomes[sh->sh_link] : 0;
		if ((sh->sh_flags & SHF_INFO_LINK) || sh->sh_type == SHT_RELA || sh->sh_type == SHT_REL)
			sh->sh_info = sh->sh_info < in->n ? in->becomes[sh->sh_info] : 0;
	}
}

static enum slim_result add_segments(struct slim *s, const struct slim_input *in)
{
	if (elf_getphdrnum(in->file->elf, &s->n_segments) != 0 || s->n_segments > ELF_SEGMENTS_MAX)
		return SLIM_DAMAGED;
	s->segments = calloc(s->n_segments + 1, sizeof(*s->segments));
	if (!s->segments)
		return SLIM_NO_MEMORY;
	for (size_t i = 0; i < s->n_segments; i++) {
		GElf_Phdr *ph = &s->segments[i];

		if (!gelf_getphdr(in->file->elf, (int)i, ph))
			return SLIM_DAMAGED;
		if (ph->p_type == PT_NOTE && ph->p_filesz && ph->p_filesz <= NOTES_MAX &&
		    ph->p_offset <= in->size && ph->p_filesz <= in->size - ph->p_offset &&
		    s->kept + ph->p_filesz <= in->size) {
			s->kept += ph->p_filesz;
			if (!grow_array(&s->blobs, &s->cap_blobs, s->n_blobs, sizeof(*s->blobs)))
				return SLIM_NO_MEMORY;
			s->blobs[s->n_blobs++] = (struct piece){ .sh = { .sh_info = (GElf_Word)i, .sh_size = ph->p_filesz,
										  .sh_addralign = 8 },
								 .input = in, .at = ph->p_offset };
		} else if (ph->p_type != PT_LOAD && ph->p_type != PT_PHDR) {
			ph->p_filesz = 0;
		}
	}
	return SLIM_DONE;
}

static void note_features(struct slim *s, const struct elf_file *f)
{
	GElf_Shdr sh;

	if (!f)
		return;
	s->symtab |= elf_has_symtab(f);
	s->rela_dyn |= elf_find_section(f->elf, ".plt.got", &sh) || elf_find_section(f->elf, ".iplt", &sh);
	s->go |= elf_find_section(f->elf, ".gopclntab", &sh) || elf_find_section(f->elf, ".go.buildinfo", &sh) ||
		 elf_find_section(f->elf, ".data.rel.ro.gopclntab", &sh);
}

/* Returns true if both files have the same class, byte order and machine. */
static bool same_kind(const struct elf_file *a, const struct elf_file *b)
{
	GElf_Ehdr x, y;

	return !b || (gelf_getehdr(a->elf, &x) && gelf_getehdr(b->elf, &y) &&
		      memcmp(x.e_ident, y.e_ident, EI_VERSION) == 0 && x.e_machine == y.e_machine);
}

static enum slim_result plan_file(struct slim *s, const struct elf_file *runtime, const struct elf_file *debug)
{
	bool by_debug = debug && (!runtime || elf_has_symtab(debug));
	const struct elf_file *first = by_debug ? debug : runtime, *ran = runtime ? runtime : debug;
	enum slim_result result = open_input(&s->base, first);

	if (((runtime ? runtime->archived : 0) | (debug ? debug->archived : 0)) & ARCHIVED_DOUBTFUL)
		s->holds |= ARCHIVED_DOUBTFUL;
	if (!elf_lost_offsets(ran) && (runtime || debug->archived & ARCHIVED_OFFSETS))
		s->holds |= ARCHIVED_OFFSETS;
	note_features(s, runtime);
	note_features(s, debug);
	if (result == SLIM_DONE)
		result = open_input(&s->other, by_debug ? runtime : debug);
	if (!same_kind(first, by_debug ? runtime : debug) || !gelf_getehdr(ran->elf, &s->eh))
		return SLIM_DAMAGED;
	s->wide = s->eh.e_ident[EI_CLASS] == ELFCLASS64;
	s->big = s->eh.e_ident[EI_DATA] == ELFDATA2MSB;
	if (result == SLIM_DONE)
		result = add_segments(s, ran == first ? &s->base : &s->other);
	if (result == SLIM_DONE)
		result = add_numbers(s);
	for (size_t i = 1; result == SLIM_DONE && i < s->base.n; i++)
		result = add_base(s, i);
	if (result == SLIM_DONE)
		result = add_others(s);
	if ((s->holds & ARCHIVED_SYMTAB) && !by_debug && !(first->archived && !(first->archived & ARCHIVED_OWN)))
		s->holds |= ARCHIVED_OWN;
	if (result == SLIM_DONE)
		result = add_own(s);
	if (result != SLIM_DONE)
		return result;
	renumber_links(s);
	return slim_lay_out(s);
}

enum slim_result slim_plan(struct slim **sp, const struct elf_file *runtime, const struct elf_file *debug,
			   unsigned int what)
{
	struct slim *s = calloc(1, sizeof(*s));
	enum slim_result result = SLIM_NO_MEMORY;

	*sp = NULL;
	if (!s)
		return result;
	s->dwarf = (what & SLIM_DWARF) != 0;
	s->holds = ARCHIVED | (what & SLIM_DOUBTFUL ? ARCHIVED_DOUBTFUL : 0);
	idmap_init(&s->base.index);
	idmap_init(&s->other.index);
	result = plan_file(s, runtime, debug);
	if (result != SLIM_DONE)
		slim_free(s);
	else
		*sp = s;
	return result;
}

void slim_free(struct slim *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->pieces[i].own);
	free(s->pieces);
	free(s->order);
	free(s->blobs);
	free(s->segments);
	buf_release(&s->names);
	release_input(&s->base);
	release_input(&s->other);
	free(s);
}

uint32_t slim_holds(const struct slim *s)
{
	return s->holds;
}

bool slim_is_better(uint32_t there, uint32_t holds)
{
	uint32_t lost = there & ~holds & ~(uint32_t)(ARCHIVED_FRAMES | ARCHIVED_OWN);

	if ((there ^ holds) & ARCHIVED_DOUBTFUL)
		return there & ARCHIVED_DOUBTFUL;
	return !lost && (holds & ~there & ~(uint32_t)ARCHIVED_OWN);
}

uint64_t slim_bytes(const struct slim *s)
{
	return s->bytes;
}
