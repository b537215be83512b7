/*
 * Compressed sections of DWARF, made larger before libdw sees them; for this room only.
 */
#ifndef CPROF_DWARF_INFLATE_H
#define CPROF_DWARF_INFLATE_H
#ifdef HAVE_LIBDW

#include <gelf.h>

#include "common/base/cursor.h"

/* The bytes that stand in place of those of a file; begins as zeros. */
struct inflated {
	void **items;
	size_t n, cap;
};

/* How large a section is without compression; SIZE_MAX: nobody can tell. */
size_t inflated_size(Elf *elf, int fd, const GElf_Shdr *sh, const char *name);
/*
 * From here on libelf has this section as if it had never been compressed. Where that cannot be it stays as it is, and
 * libelf inflates it when it is asked for: always so without libdeflate (HAVE_LIBDEFLATE), which takes a third of the
 * time. n is what inflated_size said.
 */
void inflate_section(struct inflated *to, Elf *elf, int fd, Elf_Scn *scn, size_t n);
/* After the end of the Elf. */
void inflated_release(struct inflated *i);

#endif
#endif
