#include "common/elf/minidebug.h"

#include "common/base/buf.h"
#include "common/elf/parts.h"

#ifdef HAVE_LIBLZMA

#include <lzma.h>

enum { STEP = 1 << 16, DECODER_MEMORY = 128 << 20, ROOM = 1 << 20 };

/* Unpacks into out. Returns false if the data is damaged or too large, or if out of memory (out->failed). */
static bool unpack_xz(struct slice packed, struct buf *out)
{
	uint64_t most = (uint64_t)packed.n * MINIDEBUG_RATIO + ROOM;
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&s, DECODER_MEMORY, 0);

	most = most < MINIDEBUG_MAX ? most : MINIDEBUG_MAX;
	s.next_in = packed.p;
	s.avail_in = packed.n;
	while (r == LZMA_OK && out->n <= most && buf_reserve(out, STEP)) {
		s.next_out = out->p + out->n;
		s.avail_out = STEP;
		r = lzma_code(&s, LZMA_FINISH);
		out->n += STEP - s.avail_out;
	}
	lzma_end(&s);
	out->failed |= r == LZMA_MEM_ERROR;
	return r == LZMA_STREAM_END && out->n <= most;
}

bool minidebug_open(const struct elf_file *f, struct elf_file **mini)
{
	struct buf unpacked = { 0 };
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(f->elf, ".gnu_debugdata", &sh);
	Elf_Data *data = scn ? elf_part(scn) : NULL;
	bool good = true;

	*mini = NULL;
	if (!data)
		return true;
	if (unpack_xz((struct slice){ data->d_buf, data->d_size }, &unpacked))
		good = elf_open_bytes(buf_view(&unpacked), mini) != ELF_NO_MEMORY;
	good &= !unpacked.failed;
	buf_release(&unpacked);
	return good;
}

#else

bool minidebug_open(const struct elf_file *f, struct elf_file **mini)
{
	(void)f;
	*mini = NULL;
	return true;
}

#endif
