/* Finds one symbol by its name. */
#include "common/elf/elffile.h"
#include "common/elf/parts.h"

static bool is_named(const Elf_Data *names, uint64_t at, const char *name, size_t n)
{
	return at < names->d_size && names->d_size - at > n && memcmp((const char *)names->d_buf + at, name, n + 1) == 0;
}

bool elf_symbol(const struct elf_file *f, const char *name, uint64_t *value)
{
	GElf_Shdr sh, strings;
	Elf_Scn *scn = f->elf ? elf_find_section(f->elf, ".symtab", &sh) : NULL, *names_scn;
	Elf_Data *symbols = scn ? elf_part(scn) : NULL, *names;
	size_t n = strlen(name);

	if (!symbols || sh.sh_entsize == 0)
		return false;
	names_scn = elf_getscn(f->elf, sh.sh_link);
	names = names_scn && gelf_getshdr(names_scn, &strings) && strings.sh_type == SHT_STRTAB ? elf_part(names_scn) : NULL;
	for (size_t i = 0; names && names->d_buf && i < symbols->d_size / sh.sh_entsize && i < INT32_MAX; i++) {
		GElf_Sym s;

		if (gelf_getsym(symbols, (int)i, &s) && s.st_shndx != SHN_UNDEF && is_named(names, s.st_name, name, n)) {
			*value = s.st_value;
			return true;
		}
	}
	return false;
}
