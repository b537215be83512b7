/*
 * Stubs of the procedure linkage table. A stub jumps through a slot of the global offset table, and
 * the relocation of that slot names the function; this holds for every linker and every kind of
 * table (.plt, .plt.sec, .plt.got), where counting entries does not.
 */
#include <elf.h>
#include <stdlib.h>

#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/elf/candidate.h"
#include "common/elf/parts.h"
#include "common/elf/symbols.h"

struct plt {
	struct candidates *out;
	Elf *elf;
	Elf_Data *dynsym;
	uint8_t strings;
	struct idmap slots; /* address of the slot to number of the symbol */
	GElf_Shdr rela_sh;
	Elf_Data *rela; /* .rela.plt, for stubs that push its index */
};

static bool read_slots(struct plt *p, const char *section)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(p->elf, section, &sh);
	Elf_Data *data = scn && sh.sh_type == SHT_RELA ? elf_part(scn) : NULL;
	size_t n = data && sh.sh_entsize ? data->d_size / sh.sh_entsize : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Rela r;

		if (!gelf_getrela(data, (int)i, &r))
			break;
		if ((GELF_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT) ||
		    GELF_R_SYM(r.r_info) >= INT32_MAX)
			continue;
		if (!idmap_set(&p->slots, r.r_offset, (uint32_t)GELF_R_SYM(r.r_info)))
			return false;
	}
	return true;
}

/* The symbol of the function that a stub leads to. */
static bool stub_symbol(const struct plt *p, const uint8_t *code, size_t n, uint64_t address, uint32_t *symbol)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = n >= 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;
	GElf_Rela r;

	for (size_t i = 0; i + 6 <= n; i++) { /* jmp *slot(%rip) */
		if (code[i] == 0xff && code[i + 1] == 0x25 &&
		    idmap_find(&p->slots, address + i + 6 + (uint64_t)(int32_t)le32_load(code + i + 2), symbol))
			return true;
	}
	/* push $index; jmp to the first entry */
	if (!p->rela || at + 5 > n || code[at] != 0x68 || le32_load(code + at + 1) >= INT32_MAX ||
	    !gelf_getrela(p->rela, (int)le32_load(code + at + 1), &r) || GELF_R_SYM(r.r_info) >= INT32_MAX)
		return false;
	*symbol = (uint32_t)GELF_R_SYM(r.r_info);
	return true;
}

static bool add_stubs(struct plt *p, const char *section)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_find_section(p->elf, section, &sh);
	Elf_Data *data = scn && (sh.sh_flags & SHF_EXECINSTR) ? elf_part(scn) : NULL;
	size_t step;

	if (!data || sh.sh_addr + sh.sh_size < sh.sh_addr)
		return true;
	step = sh.sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; at + step <= data->d_size; at += step) {
		struct candidate c = { .start = sh.sh_addr + at, .end = sh.sh_addr + at + step,
				       .table = p->strings, .origin = ORIGIN_PLT, .rank = 128 };
		uint32_t symbol;
		GElf_Sym sym;

		if (!stub_symbol(p, (const uint8_t *)data->d_buf + at, step, c.start, &symbol) ||
		    !gelf_getsym(p->dynsym, (int)symbol, &sym))
			continue;
		c.name = sym.st_name;
		if (!candidates_add(p->out, &c))
			return false;
	}
	return true;
}

static Elf_Data *read_dynsym(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			return elf_part(scn);
	}
	return NULL;
}

bool candidates_add_plt(struct candidates *out, const struct elf_file *f, uint8_t strings)
{
	struct plt p = { .out = out, .elf = f->elf, .strings = strings };
	GElf_Ehdr eh;
	GElf_Shdr sh;
	Elf_Scn *scn;
	bool good;

	if (!gelf_getehdr(f->elf, &eh) || eh.e_machine != EM_X86_64 || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return true;
	p.dynsym = read_dynsym(f->elf);
	if (!p.dynsym)
		return true;
	idmap_init(&p.slots);
	scn = elf_find_section(f->elf, ".rela.plt", &p.rela_sh);
	p.rela = scn && p.rela_sh.sh_type == SHT_RELA ? elf_part(scn) : NULL;
	good = read_slots(&p, ".rela.plt") &&
	       (!elf_find_section(f->elf, ".plt.got", &sh) || read_slots(&p, ".rela.dyn")) &&
	       add_stubs(&p, ".plt") && add_stubs(&p, ".plt.sec") && add_stubs(&p, ".plt.got");
	idmap_release(&p.slots);
	return good;
}
