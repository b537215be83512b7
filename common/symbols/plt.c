/*
 * Names the stubs of the procedure linkage table. A stub jumps through a slot of the global offset table, and
 * the relocation of that slot names the function. Unlike counting entries, this works for every linker and
 * every kind of table (.plt, .plt.sec, .plt.got, .iplt).
 *
 * An IRELATIVE relocation has no symbol, but the address of a resolver, a function that chooses the
 * implementation when the program starts. The symbol of the resolver has the name that was called, "strlen",
 * even in a statically linked program.
 */
#include <elf.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/le.h"
#include "common/symbols/candidate.h"
#include "common/elf/parts.h"
#include "common/symbols/prefer.h"
#include "common/symbols/symbols.h"

struct plt {
	struct candidates *out;
	Elf *elf;
	Elf_Data *dynsym;
	uint8_t strings;
	struct idmap slots;   /* address of a slot to the index of its symbol */
	struct idmap choices; /* address of a slot of an indirect function to an index in choosers */
	struct idmap chooser; /* address of a resolver to an index in choosers */
	uint32_t *choosers;   /* index + 1 of the best candidate that begins at the resolver; 0: none */
	size_t n_choosers, cap_choosers;
	GElf_Shdr rela_sh;
	Elf_Data *rela; /* .rela.plt, for stubs that push an index into it */
};

static bool add_choice(struct plt *p, const GElf_Rela *r)
{
	uint32_t at;

	if (!idmap_find(&p->chooser, (uint64_t)r->r_addend, &at)) {
		at = (uint32_t)p->n_choosers;
		if (!grow_array(&p->choosers, &p->cap_choosers, at, sizeof(*p->choosers)) ||
		    !idmap_set(&p->chooser, (uint64_t)r->r_addend, at))
			return false;
		p->n_choosers++;
	}
	return idmap_set(&p->choices, r->r_offset, at);
}

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
		if (GELF_R_TYPE(r.r_info) == R_X86_64_IRELATIVE) {
			if (!add_choice(p, &r))
				return false;
			continue;
		}
		if ((GELF_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT) ||
		    GELF_R_SYM(r.r_info) >= INT32_MAX)
			continue;
		if (!idmap_set(&p->slots, r.r_offset, (uint32_t)GELF_R_SYM(r.r_info)))
			return false;
	}
	return true;
}

static bool is_better(const struct candidates *all, const struct candidate *a, const struct candidate *b)
{
	if (a->indirect != b->indirect)
		return a->indirect;
	return a->rank != b->rank ? a->rank < b->rank :
	       prefer_name(candidates_bare(candidates_string(all, a->table, a->name)),
			   candidates_bare(candidates_string(all, b->table, b->name))) < 0;
}

static void find_choosers(struct plt *p)
{
	const struct candidates *all = p->out;
	uint32_t at;

	for (size_t i = 0; p->n_choosers && i < all->n && i < UINT32_MAX - 1; i++) {
		if (!idmap_find(&p->chooser, all->items[i].start, &at))
			continue;
		if (!p->choosers[at] || is_better(all, &all->items[i], &all->items[p->choosers[at] - 1]))
			p->choosers[at] = (uint32_t)i + 1;
	}
}

/* Finds the next slot that a stub jumps through, by "jmp *slot(%rip)" at or after *from. */
static bool stub_slot(const uint8_t *code, size_t n, uint64_t address, size_t *from, uint64_t *slot)
{
	for (size_t i = *from; i + 6 <= n; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		*slot = address + i + 6 + (uint64_t)(int32_t)le32_load(code + i + 2);
		*from = i + 1;
		return true;
	}
	return false;
}

/* Returns the candidate with the name of the indirect function that a stub jumps to. */
static const struct candidate *stub_chooser(const struct plt *p, const uint8_t *code, size_t n, uint64_t address)
{
	size_t from = 0;
	uint64_t slot;
	uint32_t at;

	while (p->n_choosers && stub_slot(code, n, address, &from, &slot)) {
		if (idmap_find(&p->choices, slot, &at))
			return p->choosers[at] ? &p->out->items[p->choosers[at] - 1] : NULL;
	}
	return NULL;
}

/* Finds the symbol of the function that a stub jumps to. */
static bool stub_symbol(const struct plt *p, const uint8_t *code, size_t n, uint64_t address, uint32_t *symbol)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = n >= 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;
	size_t from = 0;
	uint64_t slot;
	GElf_Rela r;

	while (stub_slot(code, n, address, &from, &slot)) {
		if (idmap_find(&p->slots, slot, symbol))
			return true;
	}
	/* "push $index; jmp" to the first entry */
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
	/* In static programs sh_entsize is 0. */
	step = sh.sh_entsize == 8 || (!sh.sh_entsize && sh.sh_addralign == 8) ? 8 : 16;
	for (size_t at = 0; at + step <= data->d_size; at += step) {
		struct candidate c = { .start = sh.sh_addr + at, .end = sh.sh_addr + at + step,
				       .table = p->strings, .origin = ORIGIN_PLT, .rank = 128 };
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		const struct candidate *chooser = stub_chooser(p, code, step, c.start);
		uint32_t symbol;
		GElf_Sym sym;

		if (chooser) {
			c.name = chooser->name;
			c.table = chooser->table;
		} else if (p->dynsym && stub_symbol(p, code, step, c.start, &symbol) && gelf_getsym(p->dynsym, (int)symbol, &sym)) {
			c.name = sym.st_name;
		} else {
			continue;
		}
		if (!candidates_add(p->out, &c))
			return false;
	}
	return true;
}

/* Returns true if .rela.dyn, which may be large, has slots of stubs: lld's .iplt has all of them there. */
static bool has_slots_in_rela_dyn(Elf *elf)
{
	GElf_Shdr sh;

	return elf_find_section(elf, ".plt.got", &sh) || elf_find_section(elf, ".iplt", &sh);
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

bool candidates_add_plt(struct candidates *out, const struct elf_file *f, uint8_t strings, bool dynamic)
{
	struct plt p = { .out = out, .elf = f->elf, .strings = strings };
	GElf_Ehdr eh;
	Elf_Scn *scn;
	bool good;

	if (!gelf_getehdr(f->elf, &eh) || eh.e_machine != EM_X86_64 || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return true;
	p.dynsym = dynamic ? read_dynsym(f->elf) : NULL;
	idmap_init(&p.slots);
	idmap_init(&p.choices);
	idmap_init(&p.chooser);
	scn = elf_find_section(f->elf, ".rela.plt", &p.rela_sh);
	p.rela = scn && p.rela_sh.sh_type == SHT_RELA ? elf_part(scn) : NULL;
	good = read_slots(&p, ".rela.plt") && (!has_slots_in_rela_dyn(f->elf) || read_slots(&p, ".rela.dyn"));
	find_choosers(&p);
	good = good && add_stubs(&p, ".plt") && add_stubs(&p, ".plt.sec") && add_stubs(&p, ".plt.got") && add_stubs(&p, ".iplt");
	idmap_release(&p.slots);
	idmap_release(&p.choices);
	idmap_release(&p.chooser);
	free(p.choosers);
	return good;
}
