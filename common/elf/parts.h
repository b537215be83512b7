/*
 * Sections of an open file, for common/elf, common/dwarf and common/unwind only.
 */
#ifndef CPROF_ELF_PARTS_H
#define CPROF_ELF_PARTS_H

#include <gelf.h>
#include <libelf.h>

/*
 * Returns the first section of this name that has bytes, otherwise the first of this name, or NULL. A file
 * from an archive has two of some names.
 */
Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *sh);
/*
 * Returns a section's bytes in the host's byte order, or NULL if it has none, is larger than ELF_PART_MAX or
 * cannot be read. They belong to libelf.
 */
Elf_Data *elf_part(Elf_Scn *scn);

#endif
