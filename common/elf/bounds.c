#include "common/elf/bounds.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAMES_MAX = 1 << 26,     /* bytes of section names */
	NOTES_ALL_MAX = 1 << 24, /* bytes of notes read from all sections, or from all segments */
	HOLES_FREE = 1 << 26,    /* bytes of holes that any file may have */
	EXTENTS_MAX = 1 << 16,   /* pieces of data counted at most */
	ENTRIES = 64,            /* entries of a table read at a time */
};

/* Offsets of fields in the headers of an ELF class. */
struct layout {
	uint8_t header, word;
	uint8_t phoff, shoff, phnum, shnum, shstrndx;    /* ELF header */
	uint8_t section, sh_offset, sh_size, sh_link, sh_info;
	uint8_t segment, p_offset, p_filesz;
};

enum { SH_TYPE = 4, P_TYPE = 0 };

static const struct layout layouts[] = {
	{ sizeof(Elf32_Ehdr), 4, 28, 32, 44, 48, 50, sizeof(Elf32_Shdr), 16, 20, 24, 28, sizeof(Elf32_Phdr), 4, 16 },
	{ sizeof(Elf64_Ehdr), 8, 32, 40, 56, 60, 62, sizeof(Elf64_Shdr), 24, 32, 40, 44, sizeof(Elf64_Phdr), 8, 32 },
};

struct headers {
	int fd;
	uint64_t size; /* the file's, bytes */
	const struct layout *is;
	bool big;
	uint64_t shoff, phoff, sections, segments, names; /* names: index of the section with section names */
	uint64_t all_sections, largest_segment; /* bytes in the file */
};

static uint64_t load_number(const struct headers *h, const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n; i++)
		v = v << 8 | p[h->big ? i : n - 1 - i];
	return v;
}

/* Returns how many of n bytes at offset are in the file. */
static uint64_t clip_to_file(const struct headers *h, uint64_t offset, uint64_t n)
{
	return offset >= h->size ? 0 : n < h->size - offset ? n : h->size - offset;
}

/*
 * Reads the ELF header, and from section 0 the numbers that are too large for it. Returns false if the file
 * is not an ELF file with a whole header.
 */
static bool read_header(struct headers *h)
{
	uint8_t e[sizeof(Elf64_Ehdr)], zero[sizeof(Elf64_Shdr)];
	const struct layout *l;

	if (pread(h->fd, e, sizeof(Elf32_Ehdr), 0) != sizeof(Elf32_Ehdr) || memcmp(e, ELFMAG, SELFMAG) != 0 ||
	    (e[EI_CLASS] != ELFCLASS32 && e[EI_CLASS] != ELFCLASS64))
		return false;
	h->is = l = &layouts[e[EI_CLASS] == ELFCLASS64];
	h->big = e[EI_DATA] == ELFDATA2MSB;
	if (pread(h->fd, e, l->header, 0) != l->header)
		return false;
	h->phoff = load_number(h, e + l->phoff, l->word);
	h->shoff = load_number(h, e + l->shoff, l->word);
	h->segments = load_number(h, e + l->phnum, 2);
	h->sections = load_number(h, e + l->shnum, 2);
	h->names = load_number(h, e + l->shstrndx, 2);
	if (h->shoff == 0 || h->shoff > INT64_MAX - sizeof(zero) ||
	    pread(h->fd, zero, l->section, (off_t)h->shoff) != l->section) {
		h->sections = 0;
		return true;
	}
	if (h->sections == 0)
		h->sections = load_number(h, zero + l->sh_size, l->word);
	if (h->segments == PN_XNUM)
		h->segments = load_number(h, zero + l->sh_info, 4);
	if (h->names == SHN_XINDEX)
		h->names = load_number(h, zero + l->sh_link, 4);
	return true;
}

/* Calls look for each entry of a table in the file, until it returns something other than ELF_OPENED. */
static enum elf_opened look_through(struct headers *h, uint64_t at, uint64_t n, size_t size,
				    enum elf_opened (*look)(struct headers *h, const uint8_t *entry, uint64_t i, uint64_t *notes))
{
	uint8_t bytes[ENTRIES * sizeof(Elf64_Shdr)];
	enum elf_opened result = ELF_OPENED;
	uint64_t notes = 0;

	for (uint64_t i = 0; i < n && result == ELF_OPENED; i += ENTRIES) {
		uint64_t from = at + i * size;
		size_t there = clip_to_file(h, from, (n - i < ENTRIES ? n - i : ENTRIES) * size) / size;

		if (there == 0 || pread(h->fd, bytes, there * size, (off_t)from) != (ssize_t)(there * size))
			break;
		for (size_t k = 0; k < there && result == ELF_OPENED; k++)
			result = look(h, bytes + k * size, i + k, &notes);
	}
	return result;
}

static enum elf_opened add_notes(uint64_t n, uint64_t *notes)
{
	*notes += n <= ELF_NOTES_MAX ? n : 0; /* larger ones are never read */
	return *notes <= NOTES_ALL_MAX ? ELF_OPENED : ELF_TOO_MANY_NOTES;
}

static enum elf_opened look_at_section(struct headers *h, const uint8_t *entry, uint64_t i, uint64_t *notes)
{
	uint64_t type = load_number(h, entry + SH_TYPE, 4), n = load_number(h, entry + h->is->sh_size, h->is->word);

	if (i == h->names && n > NAMES_MAX)
		return ELF_TOO_LONG_NAMES;
	n = clip_to_file(h, load_number(h, entry + h->is->sh_offset, h->is->word), n);
	if (type == SHT_NULL || type == SHT_NOBITS)
		return ELF_OPENED;
	h->all_sections = h->all_sections + n < n ? UINT64_MAX : h->all_sections + n;
	return type == SHT_NOTE ? add_notes(n, notes) : ELF_OPENED;
}

static enum elf_opened look_at_segment(struct headers *h, const uint8_t *entry, uint64_t i, uint64_t *notes)
{
	uint64_t type = load_number(h, entry + P_TYPE, 4);
	uint64_t n = clip_to_file(h, load_number(h, entry + h->is->p_offset, h->is->word), load_number(h, entry + h->is->p_filesz, h->is->word));

	(void)i;
	if (type == PT_LOAD && n > h->largest_segment)
		h->largest_segment = n;
	return type == PT_NOTE ? add_notes(n, notes) : ELF_OPENED;
}

/* Returns true if the file has least bytes of data besides holes, or if holes are not reported. */
static bool has_data(int fd, uint64_t least)
{
	uint64_t found = 0;
	off_t at = 0;

	for (unsigned int i = 0; i < EXTENTS_MAX && found < least; i++) {
		off_t data = lseek(fd, at, SEEK_DATA);

		if (data < 0)
			return errno != ENXIO; /* ENXIO: the rest is a hole */
		at = lseek(fd, data, SEEK_HOLE);
		if (at <= data)
			return true;
		found += (uint64_t)(at - data);
	}
	return found >= least;
}

bool elf_is_sparse(int fd, uint64_t bytes)
{
	return bytes > HOLES_FREE && !has_data(fd, (bytes - HOLES_FREE) / 2);
}

enum elf_opened elf_check_bounds(int fd)
{
	struct headers h = { .fd = fd };
	enum elf_opened result;
	uint64_t claimed;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return ELF_NOT_ELF;
	h.size = (uint64_t)st.st_size;
	if (!read_header(&h)) {
		char magic[SELFMAG];

		return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0 ? ELF_DAMAGED : ELF_NOT_ELF;
	}
	if (h.sections > ELF_SECTIONS_MAX)
		return ELF_TOO_MANY_SECTIONS;
	if (h.segments > ELF_SEGMENTS_MAX)
		return ELF_TOO_MANY_SEGMENTS;
	result = look_through(&h, h.phoff, h.segments, h.is->segment, look_at_segment);
	if (result == ELF_OPENED)
		result = look_through(&h, h.shoff, h.sections, h.is->section, look_at_section);
	claimed = h.all_sections > h.largest_segment ? h.all_sections : h.largest_segment;
	if (result == ELF_OPENED && elf_is_sparse(fd, claimed))
		return ELF_SPARSE;
	return result;
}

Elf *elf_begin_bounded(int fd, enum elf_opened *why)
{
	Elf *elf;

	*why = elf_check_bounds(fd);
	if (*why != ELF_OPENED)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	*why = ELF_DAMAGED;
	return NULL;
}
