#include "common/elf/probe_sites.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/le.h"
#include "common/elf/bounds.h"
#include "common/elf/parts.h"

enum { NOTE_STAPSDT = 3, ARGS_MAX = 4096 };

void probe_sites_release(struct probe_sites *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i].args);
	free(s->items);
	*s = (struct probe_sites){ 0 };
}

/* Finds the file offset of an address in a segment of this kind. */
static bool find_offset(const struct elf_file *f, uint64_t vaddr, bool exec, uint64_t *offset)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec == exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz &&
		    s->offset <= INT64_MAX - s->filesz) {
			*offset = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

static enum probe_sites_found add_site(const struct elf_file *f, struct probe_sites *to,
				       const struct probe_site *site)
{
	size_t at = to->n;

	while (at > 0 && to->items[at - 1].offset > site->offset)
		at--;
	if (at > 0 && to->items[at - 1].offset == site->offset)
		return PROBE_SITES_FOUND;
	if (to->n == PROBE_SITES_MAX)
		return PROBE_SITES_TOO_MANY;
	if (!grow_array(&to->items, &to->cap, to->n, sizeof(*to->items)))
		return PROBE_SITES_NO_MEMORY;
	memmove(&to->items[at + 1], &to->items[at], (to->n - at) * sizeof(*to->items));
	to->items[at] = *site;
	to->items[at].args = site->args ? strdup(site->args) : NULL;
	to->n++;
	if (pread(f->fd, to->items[at].code, PROBE_CODE, (off_t)site->offset) != PROBE_CODE)
		memset(to->items[at].code, 0, PROBE_CODE);
	return site->args && !to->items[at].args ? PROBE_SITES_NO_MEMORY : PROBE_SITES_FOUND;
}

enum probe_sites_found probe_sites_address(const struct elf_file *f, uint64_t vaddr, struct probe_sites *to)
{
	struct probe_site site = { 0 };

	if (!find_offset(f, vaddr, true, &site.offset))
		return PROBE_SITES_NOT_CODE;
	return add_site(f, to, &site);
}

/*
 * Is this the name at an offset of the string table? .symtab appends the version, as in
 * "memcpy@GLIBC_2.2.5".
 */
static bool is_named(const Elf_Data *names, uint64_t at, const char *name, size_t n)
{
	const char *s = (const char *)names->d_buf + at;

	return at < names->d_size && names->d_size - at > n && memcmp(s, name, n) == 0 &&
	       (s[n] == '\0' || s[n] == '@');
}

/* Adds the functions of the name in one symbol table. */
static enum probe_sites_found search_symbols(const struct elf_file *f, Elf_Scn *scn, const GElf_Shdr *sh,
					     const char *name, uint64_t distance, struct probe_sites *to)
{
	Elf_Data *symbols = elf_part(scn), *names;
	Elf_Scn *names_scn = elf_getscn(f->elf, sh->sh_link);
	enum probe_sites_found found = PROBE_SITES_UNKNOWN;
	size_t n = strlen(name);
	GElf_Shdr strings;

	names = names_scn && gelf_getshdr(names_scn, &strings) && strings.sh_type == SHT_STRTAB
			? elf_part(names_scn)
			: NULL;
	if (!symbols || sh->sh_entsize == 0 || !names || !names->d_buf)
		return found;
	for (size_t i = 0; i < symbols->d_size / sh->sh_entsize && i < INT32_MAX; i++) {
		enum probe_sites_found is;
		GElf_Sym s;

		if (!gelf_getsym(symbols, (int)i, &s) || s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS ||
		    (GELF_ST_TYPE(s.st_info) != STT_FUNC && GELF_ST_TYPE(s.st_info) != STT_NOTYPE) ||
		    !is_named(names, s.st_name, name, n))
			continue;
		is = s.st_value <= UINT64_MAX - distance ? probe_sites_address(f, s.st_value + distance, to)
							 : PROBE_SITES_NOT_CODE;
		if (is != PROBE_SITES_FOUND && is != PROBE_SITES_NOT_CODE)
			return is;
		if (found != PROBE_SITES_FOUND)
			found = is;
	}
	return found;
}

enum probe_sites_found probe_sites_symbol(const struct elf_file *f, const char *name, uint64_t distance,
					  struct probe_sites *to)
{
	enum probe_sites_found found = PROBE_SITES_UNKNOWN, is;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (!*name)
		return found;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		is = search_symbols(f, scn, &sh, name, distance, to);
		if (is == PROBE_SITES_TOO_MANY || is == PROBE_SITES_NO_MEMORY)
			return is;
		if (is == PROBE_SITES_FOUND || found == PROBE_SITES_UNKNOWN)
			found = is;
	}
	return found;
}

/* One note: addresses as they were linked, and texts that are lent. */
struct usdt_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/* Takes a text with its NUL. */
static bool take_text(struct cursor *c, const char **text)
{
	const uint8_t *end = memchr(c->p, '\0', cursor_left(c));

	if (!end)
		return false;
	*text = (const char *)c->p;
	c->p = end + 1;
	return true;
}

static bool read_note(struct slice desc, size_t word, struct usdt_note *n)
{
	uint64_t *const to[] = { &n->pc, &n->base, &n->semaphore };
	struct cursor c = cursor_over(desc.p, desc.n);
	struct slice bytes;

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		if (!cursor_bytes(&c, word, &bytes))
			return false;
		*to[i] = word == 8 ? le64_load(bytes.p) : le32_load(bytes.p);
	}
	return take_text(&c, &n->provider) && take_text(&c, &n->name) && take_text(&c, &n->args) &&
	       strlen(n->args) < ARGS_MAX;
}

static enum probe_sites_found add_usdt(const struct elf_file *f, const struct usdt_note *n, uint64_t moved,
				       struct probe_sites *to)
{
	struct probe_site site = { .args = (char *)n->args };

	if (!find_offset(f, n->pc + moved, true, &site.offset))
		return PROBE_SITES_NOT_CODE;
	if (n->semaphore && !find_offset(f, n->semaphore + moved, false, &site.semaphore))
		return PROBE_SITES_NOT_CODE;
	return add_site(f, to, &site);
}

/* moved: the address of .stapsdt.base now; 0: the file has none, and nothing has moved. */
static enum probe_sites_found search_notes(const struct elf_file *f, Elf_Data *notes, uint64_t base,
					   const char *provider, const char *name, struct probe_sites *to)
{
	enum probe_sites_found found = PROBE_SITES_UNKNOWN, is;
	size_t at = 0, next, owner, desc, word = gelf_getclass(f->elf) == ELFCLASS32 ? 4 : 8;
	GElf_Nhdr h;

	while (notes && notes->d_buf && (next = gelf_getnote(notes, at, &h, &owner, &desc)) > 0) {
		const uint8_t *bytes = notes->d_buf;
		struct usdt_note n;

		at = next;
		if (h.n_type != NOTE_STAPSDT || h.n_namesz != 8 || memcmp(bytes + owner, "stapsdt", 8) != 0 ||
		    !read_note((struct slice){ bytes + desc, h.n_descsz }, word, &n) ||
		    strcmp(n.provider, provider) != 0 || strcmp(n.name, name) != 0)
			continue;
		is = add_usdt(f, &n, base ? base - n.base : 0, to);
		if (is == PROBE_SITES_TOO_MANY || is == PROBE_SITES_NO_MEMORY)
			return is;
		if (found != PROBE_SITES_FOUND)
			found = is;
	}
	return found;
}

enum probe_sites_found probe_sites_usdt(const struct elf_file *f, const char *provider, const char *name,
					struct probe_sites *to)
{
	GElf_Shdr sh, base = { 0 };
	Elf_Scn *scn = elf_find_section(f->elf, ".note.stapsdt", &sh);
	GElf_Ehdr h;

	/* The words of a note are in the file's byte order, and no big-endian kernel runs us. */
	if (!scn || sh.sh_type != SHT_NOTE || sh.sh_size > ELF_NOTES_MAX || !gelf_getehdr(f->elf, &h) ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB)
		return PROBE_SITES_UNKNOWN;
	if (!elf_find_section(f->elf, ".stapsdt.base", &base))
		base.sh_addr = 0;
	return search_notes(f, elf_getdata(scn, NULL), base.sh_addr, provider, name, to);
}
