/* Fuzzes bytes as an ELF file: segments, build ID, debug link, symbols, and the choice among symbols. */
#include "tests/lib/fuzz.h"

#include "common/elf/elffile.h"
#include "common/elf/mapped.h"
#include "common/symbols/symbols.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static struct buf name;
static bool guarded;

static void look(struct symbols *t, uint64_t vaddr)
{
	uint32_t s = symbols_find(t, vaddr);

	if (s == SYMBOL_NONE)
		return;
	demand(symbols_get(t, s)->start <= vaddr);
	demand(symbols_name(t, s, &name) && name.n > 0 && name.n <= SYMBOL_NAME_MAX);
	demand(symbols_get(t, s)->origin < ORIGINS);
}

static void look_around(const struct elf_file *f, struct symbols *t)
{
	uint64_t vaddr;

	look(t, 0);
	look(t, UINT64_MAX);
	for (size_t i = 0; i < f->n_segments && i < 16; i++) {
		for (uint64_t o = 0; o < 8192; o += 61) {
			if (elf_vaddr(f, f->segments[i].offset + o, &vaddr))
				look(t, vaddr);
			look(t, f->segments[i].vaddr + o);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct slice all = { bytes, n };
	struct elf_file *f;
	struct symbols *t;
	char link[256];
	uint64_t value, again;
	uint32_t crc;

	if (!guarded)
		demand(guarded = mapped_guard());
	if (elf_open_bytes(all, &f) != ELF_OPENED)
		return 0;
	t = symbols_new();
	demand(t && f->n_ids <= ELF_IDS);
	for (size_t i = 0; i < f->n_ids; i++)
		demand(f->ids[i].n > 0 && f->ids[i].n <= ELF_BUILD_ID_MAX);
	if (elf_debuglink(f, link, sizeof(link), &crc))
		demand(memchr(link, '\0', sizeof(link)) != NULL);
	demand(elf_crc32(f, &crc) == ELF_OPENED);
	if (elf_symbol(f, "second", &value))
		demand(elf_symbol(f, "second", &again) && again == value);
	symbols_add(t, f, SYMBOLS_SYMTAB);
	symbols_add(t, f, SYMBOLS_DYNAMIC);
	demand(symbols_settle(t));
	if (elf_lost_offsets(f))
		elf_adopt_mapping(f, 0x1000, 0x1000);
	elf_settle(f);
	look_around(f, t);
	symbols_free(t);
	elf_close(f);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
