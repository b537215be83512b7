#ifdef HAVE_LIBDW
#include "common/dwarf/inflate.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/le.h"
#include "common/elf/elffile.h"

enum { OLD_HEADER = 12 }; /* "ZLIB" and the size, big-endian */

/* The header of a section with SHF_COMPRESSED. */
struct header {
	size_t n; /* bytes of the header */
	uint32_t method;
	uint64_t size; /* without compression */
};

static bool read_header(Elf *elf, int fd, const GElf_Shdr *sh, struct header *h)
{
	bool wide = gelf_getclass(elf) == ELFCLASS64;
	uint8_t bytes[sizeof(Elf64_Chdr)];

	h->n = wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	if (sh->sh_size < h->n || pread(fd, bytes, h->n, (off_t)sh->sh_offset) != (ssize_t)h->n)
		return false;
	h->method = le32_load(bytes);
	h->size = wide ? le64_load(bytes + offsetof(Elf64_Chdr, ch_size)) :
			 le32_load(bytes + offsetof(Elf32_Chdr, ch_size));
	return true;
}

size_t inflated_size(Elf *elf, int fd, const GElf_Shdr *sh, const char *name)
{
	uint8_t head[OLD_HEADER];
	struct header h;
	size_t n = 0;

	if (sh->sh_flags & SHF_COMPRESSED)
		return read_header(elf, fd, sh, &h) ? h.size : SIZE_MAX;
	if (strncmp(name, ".zdebug_", 8) != 0 || pread(fd, head, sizeof(head), (off_t)sh->sh_offset) != sizeof(head) ||
	    memcmp(head, "ZLIB", 4) != 0)
		return sh->sh_size;
	for (unsigned int i = 4; i < OLD_HEADER; i++)
		n = n << 8 | head[i];
	return n;
}

#ifdef HAVE_LIBDEFLATE

enum { DEFLATE_RATIO = 1032 }; /* the largest ratio that deflate can reach */

static bool inflate_zlib(struct slice packed, void *to, size_t n)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good = d && libdeflate_zlib_decompress(d, packed.p, packed.n, to, n, NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return good;
}

/* Returns the section's bytes, from malloc; NULL if some are missing or the data is not as described. */
static void *read_inflated(Elf *elf, int fd, const GElf_Shdr *sh, size_t n)
{
	struct header h;
	uint8_t *packed;
	void *to = NULL;
	size_t left;

	if (!read_header(elf, fd, sh, &h) || h.method != ELFCOMPRESS_ZLIB || h.size != n || n == 0 ||
	    sh->sh_size > ELF_PART_MAX || n / DEFLATE_RATIO > sh->sh_size)
		return NULL;
	left = (size_t)sh->sh_size - h.n;
	packed = malloc(left + 1);
	if (packed && pread(fd, packed, left, (off_t)(sh->sh_offset + h.n)) == (ssize_t)left)
		to = malloc(n);
	if (to && !inflate_zlib((struct slice){ packed, left }, to, n)) {
		free(to);
		to = NULL;
	}
	free(packed);
	return to;
}

/*
 * Gives libelf the bytes. For a section marked SHT_NOBITS libelf creates an Elf_Data without reading the
 * file, and that gets ours. There are two: libdw uses that of elf_getdata, and from 0.192 on that of
 * elf_rawdata.
 */
static bool hand_to_libelf(Elf_Scn *scn, GElf_Shdr *sh, void *bytes, size_t n)
{
	GElf_Shdr none = *sh;
	Elf_Data *data, *raw;
	bool given;

	none.sh_type = SHT_NOBITS;
	data = gelf_update_shdr(scn, &none) ? elf_getdata(scn, NULL) : NULL;
	raw = data ? elf_rawdata(scn, NULL) : NULL;
	given = raw && !data->d_buf && !raw->d_buf; /* otherwise libelf has already read it */
	if (given) {
		*data = *raw = (Elf_Data){ .d_buf = bytes, .d_type = ELF_T_BYTE, .d_version = data->d_version, .d_size = n,
					   .d_align = data->d_align };
		sh->sh_size = n;
		sh->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	}
	gelf_update_shdr(scn, sh);
	return given;
}

void inflate_section(struct inflated *to, Elf *elf, int fd, Elf_Scn *scn, size_t n)
{
	GElf_Shdr sh;
	void *bytes;

	if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_COMPRESSED) ||
	    !grow_array(&to->items, &to->cap, to->n, sizeof(*to->items)))
		return;
	bytes = read_inflated(elf, fd, &sh, n);
	if (bytes && hand_to_libelf(scn, &sh, bytes, n))
		to->items[to->n++] = bytes;
	else
		free(bytes);
}

#else

void inflate_section(struct inflated *to, Elf *elf, int fd, Elf_Scn *scn, size_t n)
{
	(void)to;
	(void)elf;
	(void)fd;
	(void)scn;
	(void)n;
}
#endif

void inflated_release(struct inflated *i)
{
	for (size_t k = 0; k < i->n; k++)
		free(i->items[k]);
	free(i->items);
	*i = (struct inflated){ 0 };
}
#endif
