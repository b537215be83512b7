#include "common/elf/elffile.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/full_write.h"
#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/elf/bounds.h"
#include "common/elf/parts.h"
#include "common/foreign/foreign.h"

enum { PAGE = 4096, BUILD_ID_LEAST = 8, NOTE_GO_ID = 4,
       QUIET_NS = 50000000, NS_A_SECOND = 1000000000 };

static uint64_t page_down(uint64_t v)
{
	return v & ~(uint64_t)(PAGE - 1);
}

static uint64_t page_up(uint64_t v)
{
	return page_down(v + PAGE - 1);
}

static bool segments_overlap(const struct elf_segment *a, const struct elf_segment *b)
{
	return a->offset < b->offset ? b->offset - a->offset < a->filesz : a->offset - b->offset < b->filesz;
}

/* Chooses the segment that elf_vaddr tries first. No earlier executable segment may overlap it. */
static void choose_code(struct elf_file *f)
{
	enum { LOOK = 64 }; /* no linker makes more segments */

	f->code = f->n_segments;
	for (size_t i = 0; i < f->n_segments && i < LOOK; i++) {
		const struct elf_segment *s = &f->segments[i];
		bool first = s->exec && (f->code == f->n_segments || s->filesz > f->segments[f->code].filesz);

		for (size_t before = 0; first && before < i; before++)
			first = !f->segments[before].exec || !segments_overlap(&f->segments[before], s);
		if (first)
			f->code = i;
	}
}

static bool read_segments(struct elf_file *f)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n) != 0 || n > ELF_SEGMENTS_MAX)
		return false;
	f->segments = calloc(n + 1, sizeof(*f->segments));
	if (!f->segments)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(f->elf, (int)i, &p))
			return false;
		if (p.p_type == PT_LOAD)
			f->segments[f->n_segments++] = (struct elf_segment){
				p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz, (p.p_flags & PF_X) != 0,
			};
	}
	choose_code(f);
	return true;
}

/*
 * Searches notes for NT_GNU_BUILD_ID, and returns true if it found one. Until then id is the last of Go's own
 * IDs, as in the recorder. A GNU ID that is too short to tell builds apart is ignored.
 */
static bool note_build_id(struct elf_id *id, Elf_Data *notes)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr n;

	while (notes && notes->d_buf && (next = gelf_getnote(notes, at, &n, &name, &desc)) > 0) {
		const uint8_t *bytes = notes->d_buf;
		bool fits = n.n_namesz == 4 && n.n_descsz > 0 && n.n_descsz <= ELF_BUILD_ID_MAX;
		bool gnu = fits && n.n_type == NT_GNU_BUILD_ID && memcmp(bytes + name, "GNU", 4) == 0 &&
			   n.n_descsz >= BUILD_ID_LEAST;

		if (gnu || (fits && n.n_type == NOTE_GO_ID && memcmp(bytes + name, "Go\0", 4) == 0)) {
			memcpy(id->bytes, bytes + desc, n.n_descsz);
			id->n = n.n_descsz;
		}
		if (gnu)
			return true;
		at = next;
	}
	return false;
}

static bool find_in_sections(const struct elf_file *f, struct elf_id *id)
{
	Elf_Scn *scn = NULL;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE && sh.sh_size <= ELF_NOTES_MAX &&
		    note_build_id(id, elf_getdata(scn, NULL)))
			return true;
	}
	return false;
}

static bool find_in_segments(const struct elf_file *f, struct elf_id *id)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n && i < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_NOTE && p.p_filesz <= ELF_NOTES_MAX &&
		    note_build_id(id, elf_getdata_rawchunk(f->elf, (int64_t)p.p_offset, p.p_filesz,
							   p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
			return true;
	}
	return false;
}

static void add_id(struct elf_file *f, const struct elf_id *id)
{
	struct slice is = { id->bytes, id->n };

	if (is.n >= BUILD_ID_LEAST && !slice_is(is, "redacted") && !slice_equal(is, elf_build_id(f)))
		f->ids[f->n_ids++] = *id;
}

/*
 * Puts the ID from sections first, because a debug file's program headers may point anywhere; but a GNU ID
 * goes before Go's. A binary may have no sections.
 */
static void read_build_ids(struct elf_file *f)
{
	struct elf_id by_section = { .n = 0 }, by_segment = { .n = 0 };
	bool gnu = find_in_sections(f, &by_section), other = find_in_segments(f, &by_segment);

	add_id(f, gnu || !other ? &by_section : &by_segment);
	add_id(f, gnu || !other ? &by_segment : &by_section);
}

/* Reads the note that slim.c writes: version 1, then the flags of enum elf_archived. */
static void read_archived(struct elf_file *f)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, ".note.cprof", &sh);
	Elf_Data *data = scn && sh.sh_type == SHT_NOTE && sh.sh_size <= ELF_NOTES_MAX ? elf_part(scn) : NULL;
	size_t name, desc;
	GElf_Nhdr n;
	const uint8_t *bytes = data ? data->d_buf : NULL;

	if (!bytes || gelf_getnote(data, 0, &n, &name, &desc) == 0 || n.n_namesz != 6 || n.n_descsz != 8 ||
	    memcmp(bytes + name, "cprof", 6) != 0)
		return;
	if (le32_load(bytes + desc) == ARCHIVED_VERSION && (le32_load(bytes + desc + 4) & ARCHIVED))
		f->archived = le32_load(bytes + desc + 4);
}

/* Sets the loaded parts; see struct elf_file. */
static bool find_loaded(struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	size_t n = 0;
	GElf_Shdr sh;

	f->loaded = f->segments;
	f->n_loaded = f->n_segments;
	if (!f->archived)
		return true;
	f->n_loaded = 0;
	if (elf_getshdrnum(f->elf, &n) != 0 || n > ELF_SECTIONS_MAX)
		n = 0;
	f->loaded = calloc(n + 1, sizeof(*f->loaded));
	while (f->loaded && f->n_loaded < n && (scn = elf_nextscn(f->elf, scn))) {
		if (gelf_getshdr(scn, &sh) && sh.sh_addr && sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL)
			f->loaded[f->n_loaded++] = (struct elf_segment){
				sh.sh_offset, sh.sh_addr, sh.sh_size, sh.sh_size, (sh.sh_flags & SHF_EXECINSTR) != 0,
			};
	}
	return f->loaded != NULL;
}

static uint64_t stamp_of(const struct stat *st)
{
	const uint64_t is[] = {
		st->st_dev, st->st_ino, (uint64_t)st->st_size,
		(uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec,
	};

	return hash_bytes(is, sizeof(is));
}

bool elf_unchanged(const struct elf_file *f)
{
	struct stat st;

	return fstat(f->fd, &st) == 0 && stamp_of(&st) == f->stamp;
}

static bool is_recent(const struct timespec *t, const struct timespec *now)
{
	if (t->tv_sec < now->tv_sec - 1)
		return false;
	return t->tv_sec > now->tv_sec ||
	       (now->tv_sec - t->tv_sec) * NS_A_SECOND + now->tv_nsec - t->tv_nsec < QUIET_NS;
}

bool elf_quiet(const struct elf_file *f)
{
	static const struct timespec while_written = { 0, QUIET_NS };
	struct timespec now;
	struct stat st;

	if (!f->own && fstat(f->fd, &st) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 && is_recent(&st.st_mtim, &now))
		nanosleep(&while_written, NULL);
	return elf_unchanged(f);
}

const char *elf_refusal(enum elf_opened opened)
{
	static const char *const texts[] = {
		[ELF_TOO_MANY_SECTIONS] = "too many sections (expected at most 131072)",
		[ELF_TOO_MANY_SEGMENTS] = "too many program headers (expected at most 4096)",
		[ELF_TOO_LONG_NAMES] = "section names are too long (expected at most 64 MiB)",
		[ELF_TOO_MANY_NOTES] = "too many notes (expected at most 16 MiB)",
		[ELF_SPARSE] = "more holes than data in its sections",
		[ELF_TOO_LARGE] = "too large for the checksum of .gnu_debuglink (expected at most 4 GiB)",
		[ELF_MOSTLY_HOLES] = "more holes than data",
	};

	return opened >= ELF_TOO_MANY_SECTIONS && opened <= ELF_MOSTLY_HOLES ? texts[opened] : NULL;
}

enum elf_opened elf_open(int fd, struct elf_file **fp)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	enum elf_opened result = ELF_NO_MEMORY;
	struct stat st;

	*fp = NULL;
	if (!f) {
		close(fd);
		return ELF_NO_MEMORY;
	}
	f->fd = fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		result = ELF_NOT_ELF;
		goto fail;
	}
	f->stamp = stamp_of(&st);
	f->owner = ELF_NO_OWNER;
	if (foreign_stat(fd, &st)) {
		f->dev = st.st_dev;
		f->inode = st.st_ino;
		f->owner = foreign_owner_is_true(fd) ? st.st_uid : ELF_NO_OWNER;
	}
	f->elf = elf_begin_bounded(fd, &result);
	if (!f->elf)
		goto fail;
	if (!read_segments(f)) {
		result = ELF_DAMAGED;
		goto fail;
	}
	read_build_ids(f);
	read_archived(f);
	if (!find_loaded(f)) {
		result = ELF_NO_MEMORY;
		goto fail;
	}
	*fp = f;
	return ELF_OPENED;
fail:
	elf_close(f);
	return result;
}

enum elf_opened elf_open_bytes(struct slice bytes, struct elf_file **f)
{
	int fd = memfd_create("cprof", MFD_CLOEXEC);
	enum elf_opened result;

	*f = NULL;
	if (fd >= 0 && !full_write(fd, bytes.p, bytes.n)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return ELF_NO_MEMORY;
	result = elf_open(fd, f);
	if (*f)
		(*f)->own = true;
	return result;
}

void elf_settle(struct elf_file *f)
{
	elf_end(f->elf);
	f->elf = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void elf_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_settle(f);
	if (f->loaded != f->segments)
		free(f->loaded);
	free(f->segments);
	free(f);
}

bool elf_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *code = &f->segments[f->code];

	/* The fast path, nearly always taken. */
	if (f->code < f->n_segments && offset >= code->offset && offset - code->offset < code->filesz) {
		*vaddr = code->vaddr + (offset - code->offset);
		return true;
	}
	/* Executable segments that contain it, then others, then executable ones with it on the last page. */
	for (unsigned int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < f->n_segments; i++) {
			const struct elf_segment *s = &f->segments[i];
			uint64_t into = offset - s->offset;
			uint64_t size = pass < 2 ? s->filesz : page_up(s->offset + s->filesz) - s->offset;

			if (offset >= s->offset && into < size && (pass == 1 || s->exec)) {
				*vaddr = s->vaddr + into;
				return true;
			}
		}
	}
	return false;
}

bool elf_lost_offsets(const struct elf_file *f)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].exec && f->segments[i].filesz)
			return false;
	}
	return f->n_segments > 0;
}

bool elf_adopt_mapping(struct elf_file *f, uint64_t file_offset, uint64_t length)
{
	struct elf_segment *match = NULL;

	for (size_t i = 0; i < f->n_segments; i++) {
		struct elf_segment *s = &f->segments[i];

		if (!s->exec || page_up(s->vaddr + s->memsz) - page_down(s->vaddr) != length)
			continue;
		if (match)
			return false;
		match = s;
	}
	if (!match)
		return false;
	match->offset = file_offset + (match->vaddr & (PAGE - 1));
	match->filesz = match->memsz;
	choose_code(f);
	return true;
}

bool elf_same_build(struct slice a, struct slice b)
{
	struct slice shorter = a.n < b.n ? a : b, longer = a.n < b.n ? b : a;

	if (shorter.n < BUILD_ID_LEAST || memcmp(a.p, b.p, shorter.n) != 0)
		return false;
	for (size_t i = shorter.n; i < longer.n; i++) {
		if (longer.p[i])
			return false;
	}
	return true;
}

bool elf_is_build(const struct elf_file *f, struct slice id)
{
	for (size_t i = 0; i < f->n_ids; i++) {
		if (elf_same_build(elf_build_id_at(f, i), id))
			return true;
	}
	return false;
}

bool elf_share_build(const struct elf_file *a, const struct elf_file *b)
{
	for (size_t i = 0; i < b->n_ids; i++) {
		if (elf_is_build(a, elf_build_id_at(b, i)))
			return true;
	}
	return false;
}

bool elf_debuglink(const struct elf_file *f, char *name, size_t cap, uint32_t *crc)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, ".gnu_debuglink", &sh);
	Elf_Data *data = scn ? elf_part(scn) : NULL;
	const uint8_t *bytes = data ? data->d_buf : NULL;
	size_t n;

	if (!bytes || data->d_size < 5)
		return false;
	n = strnlen((const char *)bytes, data->d_size);
	if (n == 0 || n >= cap || memchr(bytes, '/', n) || (n + 4) / 4 * 4 + 4 > data->d_size)
		return false;
	memcpy(name, bytes, n);
	name[n] = '\0';
	*crc = le32_load(bytes + (n + 4) / 4 * 4);
	return true;
}

bool elf_altlink(const struct elf_file *f, const char **path, struct slice *build_id)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, ".gnu_debugaltlink", &sh);
	Elf_Data *data = scn ? elf_part(scn) : NULL;
	size_t n;

	if (!data)
		return false;
	*path = data->d_buf;
	n = strnlen(*path, data->d_size);
	if (n == 0 || n >= data->d_size || data->d_size - n - 1 > ELF_BUILD_ID_MAX)
		return false;
	*build_id = (struct slice){ (const uint8_t *)data->d_buf + n + 1, data->d_size - n - 1 };
	return true;
}

static bool has_bytes(const struct elf_file *f, const char *name)
{
	GElf_Shdr sh;

	return elf_find_section(f->elf, name, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

bool elf_has_dwarf(const struct elf_file *f)
{
	return has_bytes(f, ".debug_info") || has_bytes(f, ".zdebug_info");
}

bool elf_has_symtab(const struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB && sh.sh_size)
			return true;
	}
	return false;
}

bool elf_is_whole(const struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;
	struct stat st;
	size_t n = 0, seen = 1;
	uint64_t size;

	if (fstat(f->fd, &st) != 0 || !gelf_getehdr(f->elf, &eh) || elf_getshdrnum(f->elf, &n) != 0)
		return false;
	size = (uint64_t)st.st_size;
	if ((eh.e_shoff && !n) || eh.e_shoff > size || n > (size - eh.e_shoff) / (eh.e_shentsize ? eh.e_shentsize : 1))
		return false;
	for (; seen < n && seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(f->elf, scn)); seen++) {
		if (!gelf_getshdr(scn, &sh))
			return false;
		if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		    (sh.sh_offset > size || sh.sh_size > size - sh.sh_offset))
			return false;
	}
	return true;
}

enum elf_opened elf_crc32(const struct elf_file *f, uint32_t *crc)
{
	const uint64_t most = (uint64_t)ELF_CRC_GIB << 30;
	static uint32_t table[256];
	uint8_t bytes[1 << 16];
	uint32_t c = UINT32_MAX;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(f->fd, &st) != 0)
		return ELF_DAMAGED;
	if ((uint64_t)st.st_size > most)
		return ELF_TOO_LARGE;
	if (elf_is_sparse(f->fd, (uint64_t)st.st_size))
		return ELF_MOSTLY_HOLES;
	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v & 1 ? v >> 1 ^ 0xedb88320 : v >> 1;
		table[i] = v;
	}
	while ((n = pread(f->fd, bytes, sizeof(bytes), at)) > 0 && (uint64_t)at < most) { /* it may grow */
		for (ssize_t i = 0; i < n; i++)
			c = table[(c ^ bytes[i]) & 0xff] ^ c >> 8;
		at += n;
	}
	*crc = ~c;
	return n == 0 ? ELF_OPENED : ELF_DAMAGED;
}
