/*
 * Sections of an open file, for this room and the one that makes unwind tables.
 */
#ifndef CPROF_ELF_PARTS_H
#define CPROF_ELF_PARTS_H

#include <gelf.h>
#include <libelf.h>

/* The first section of this name that has bytes (a file of an archive has two of some), or else the first; or NULL. */
Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *sh);
/* A section's bytes, in the host's order; NULL where it has none, is too large or cannot be read. */
Elf_Data *elf_part(Elf_Scn *scn);

#endif
