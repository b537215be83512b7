#include "cmd/cprof-record/host/build_id.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/le.h"

enum {
	HEADERS_MAX = 65536, /* program headers looked at */
	SECTIONS_MAX = 512,  /* section headers looked at: a note outside of segments is near the start */
	NOTES_MAX = 256,     /* notes looked at, in all segments together */
	NOTE_HEADER = 12,    /* name size, descriptor size, type */
	OWNER_MAX = 4,       /* "GNU\0", "Go\0\0" */
};

/* The source of bytes: a file, or memory if fd is -1. */
struct source {
	int fd;
	struct slice image;
	unsigned int notes;  /* looked at so far */
	size_t go_n;         /* length of Go's note, kept in case there is no GNU note */
	uint8_t go[ELF_ID_MAX];
};

/* Offsets of fields in the headers of each ELF class. */
struct layout {
	uint8_t header, phoff, shoff, phentsize, phnum, shentsize, shnum; /* ELF header */
	uint8_t ph_size, p_offset, p_filesz, p_align;
	uint8_t sh_header, sh_offset, sh_size, sh_info, sh_align, word;
};

static const struct layout layout32 = { 52, 28, 32, 42, 44, 46, 48, 32, 4, 16, 28, 40, 16, 20, 28, 32, 4 };
static const struct layout layout64 = { 64, 32, 40, 54, 56, 58, 60, 56, 8, 32, 48, 64, 24, 32, 44, 48, 8 };

static bool bytes_at(const struct source *s, uint64_t offset, void *to, size_t n)
{
	uint8_t *p = to;

	if (s->fd < 0) {
		if (offset > s->image.n || n > s->image.n - offset)
			return false;
		memcpy(to, s->image.p + offset, n);
		return true;
	}
	while (n > 0) {
		ssize_t got;

		if (offset > INT64_MAX - n)
			return false;
		got = pread(s->fd, p, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

static uint64_t load_word(const struct layout *l, const uint8_t *p)
{
	return l->word == 8 ? le64_load(p) : le32_load(p);
}

static bool go_is_of_use(const struct source *s)
{
	struct slice id = { s->go, s->go_n };

	return id.n > 0 && !slice_is(id, "redacted");
}

/* Reads one note. Returns true if it is the GNU build ID; keeps Go's note as the second choice. */
static bool take_note(struct source *s, const uint8_t *owner, uint32_t type, uint64_t at, uint32_t size,
		      struct buf *id)
{
	bool gnu = type == NOTE_GNU_ID && memcmp(owner, "GNU", 4) == 0;
	bool go = type == NOTE_GO_ID && memcmp(owner, "Go\0", 4) == 0;
	uint8_t bytes[ELF_ID_MAX];

	if ((!gnu && !go) || size == 0 || size > sizeof(bytes) || !bytes_at(s, at, bytes, size))
		return false;
	if (gnu) {
		buf_bytes(id, bytes, size);
		return !id->failed;
	}
	memcpy(s->go, bytes, size);
	s->go_n = size;
	return false;
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Sizes in a note have 32 bits and the offsets were checked, so nothing here can wrap. */
static bool walk_notes(struct source *s, uint64_t at, uint64_t size, uint64_t align, struct buf *id)
{
	uint64_t end = at + size;

	align = align == 8 ? 8 : 4;
	while (end - at >= NOTE_HEADER && s->notes++ < NOTES_MAX) {
		uint8_t h[NOTE_HEADER], owner[OWNER_MAX];
		uint64_t name_n, desc_n, desc, next;

		if (!bytes_at(s, at, h, sizeof(h)))
			return false;
		name_n = le32_load(h);
		desc_n = le32_load(h + 4);
		/* Each part is padded so that the next one is aligned, counted from the note's start. */
		desc = at + align_up(NOTE_HEADER + name_n, align);
		next = at + align_up(desc - at + desc_n, align);
		if (desc > end || desc_n > end - desc)
			return false;
		if (name_n == OWNER_MAX && bytes_at(s, at + NOTE_HEADER, owner, OWNER_MAX) &&
		    take_note(s, owner, le32_load(h + 8), desc, (uint32_t)desc_n, id))
			return true;
		if (next > end)
			return false;
		at = next;
	}
	return false;
}

/* With more than 65,534 program headers, their number is in section header 0. */
static bool header_count(const struct source *s, const struct layout *l, const uint8_t *h, uint64_t *n)
{
	uint8_t section[64];

	*n = le16_load(h + l->phnum);
	if (*n != PN_XNUM)
		return true;
	if (le16_load(h + l->shentsize) < l->sh_header ||
	    !bytes_at(s, load_word(l, h + l->shoff), section, l->sh_header))
		return false;
	*n = le32_load(section + l->sh_info);
	return true;
}

/* Walks the notes of one segment or section, whose range is as the headers give it. */
static bool walk_part(struct source *s, uint64_t offset, uint64_t size, uint64_t align, struct buf *id)
{
	return offset <= INT64_MAX / 2 && size <= INT64_MAX / 2 && walk_notes(s, offset, size, align, id);
}

static bool walk_segments(struct source *s, const struct layout *l, const uint8_t *h, struct buf *id)
{
	uint64_t n, at = load_word(l, h + l->phoff), step = le16_load(h + l->phentsize);
	uint8_t p[56];

	if (step < l->ph_size || at > INT64_MAX / 2 || !header_count(s, l, h, &n))
		return false;
	for (uint64_t i = 0; i < n && i < HEADERS_MAX && bytes_at(s, at, p, l->ph_size); i++, at += step) {
		if (le32_load(p) == PT_NOTE && walk_part(s, load_word(l, p + l->p_offset), load_word(l, p + l->p_filesz),
							 load_word(l, p + l->p_align), id))
			return true;
	}
	return false;
}

static bool walk_sections(struct source *s, const struct layout *l, const uint8_t *h, struct buf *id)
{
	uint64_t n = le16_load(h + l->shnum), at = load_word(l, h + l->shoff), step = le16_load(h + l->shentsize);
	uint8_t p[64];

	if (step < l->sh_header || at > INT64_MAX / 2)
		return false;
	for (uint64_t i = 0; i < n && i < SECTIONS_MAX && bytes_at(s, at, p, l->sh_header); i++, at += step) {
		if (le32_load(p + 4) == SHT_NOTE && walk_part(s, load_word(l, p + l->sh_offset), load_word(l, p + l->sh_size),
							      load_word(l, p + l->sh_align), id))
			return true;
	}
	return false;
}

static bool find_id(struct source *s, struct buf *id)
{
	const struct layout *l;
	uint8_t h[64] = { 0 };

	if (!bytes_at(s, 0, h, layout32.header) || memcmp(h, ELFMAG, SELFMAG) != 0 ||
	    h[EI_DATA] != ELFDATA2LSB || (h[EI_CLASS] != ELFCLASS32 && h[EI_CLASS] != ELFCLASS64))
		return false;
	l = h[EI_CLASS] == ELFCLASS64 ? &layout64 : &layout32;
	if (!bytes_at(s, 0, h, l->header))
		return false;
	if (walk_segments(s, l, h, id) || walk_sections(s, l, h, id))
		return true;
	if (!go_is_of_use(s))
		return false;
	buf_bytes(id, s->go, s->go_n);
	return !id->failed;
}

bool elf_build_id_fd(int fd, struct buf *id)
{
	struct source s = { .fd = fd };
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && find_id(&s, id);
}

bool elf_build_id_image(struct slice image, struct buf *id)
{
	struct source s = { .fd = -1, .image = image };

	return find_id(&s, id);
}

bool elf_build_id_notes(struct slice notes, uint64_t align, struct buf *id)
{
	struct source s = { .fd = -1, .image = notes };

	return walk_notes(&s, 0, notes.n, align, id);
}
