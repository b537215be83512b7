#include "common/elf/parts.h"

#include <string.h>

#include "common/elf/elffile.h"

Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL, *empty = NULL;
	GElf_Shdr of_empty;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		const char *s = gelf_getshdr(scn, sh) ? elf_strptr(elf, names, sh->sh_name) : NULL;

		if (!s || strcmp(s, name) != 0)
			continue;
		if (sh->sh_type != SHT_NOBITS)
			return scn;
		if (!empty) {
			empty = scn;
			of_empty = *sh;
		}
	}
	if (empty)
		*sh = of_empty;
	return empty;
}

Elf_Data *elf_part(Elf_Scn *scn)
{
	GElf_Shdr sh;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || sh.sh_size > ELF_PART_MAX)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf ? data : NULL;
}
