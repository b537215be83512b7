/*
 * Decompresses sections of DWARF before libdw sees them. Internal to common/dwarf.
 */
#ifndef CPROF_DWARF_INFLATE_H
#define CPROF_DWARF_INFLATE_H
#ifdef HAVE_LIBDW

#include <gelf.h>

#include "common/base/cursor.h"

/* The bytes that replace those of the file. Starts zeroed. */
struct inflated {
	void **items;
	size_t n, cap;
};

/* Returns the size of a section without compression, in bytes. Returns SIZE_MAX if it is unknown. */
size_t inflated_size(Elf *elf, int fd, const GElf_Shdr *sh, const char *name);
/*
 * Makes libelf see this section as if it had never been compressed. n is the result of inflated_size. On
 * failure the section stays compressed and libelf inflates it when needed, as in a build without libdeflate
 * (HAVE_LIBDEFLATE), which takes a third of the time.
 */
void inflate_section(struct inflated *to, Elf *elf, int fd, Elf_Scn *scn, size_t n);
/* Call it after elf_end. */
void inflated_release(struct inflated *i);

#endif
#endif
