#include "common/elf/minidebug.h"

#include "common/compress/unpack.h"
#include "common/elf/parts.h"

enum { ROOM = 1 << 20 };

/* Unpacks into out. Returns false if the data is damaged or too large, or if out of memory (out->failed). */
static bool unpack_xz(struct slice packed, struct buf *out)
{
	uint64_t most = (uint64_t)packed.n * MINIDEBUG_RATIO + ROOM;

	return unpack_whole(PACKED_XZ, packed, most < MINIDEBUG_MAX ? most : MINIDEBUG_MAX, out);
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
