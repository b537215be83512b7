/*
 * Limits for untrusted ELF files, because libelf trusts their headers: a sparse file of 12 kB may claim
 * millions of sections, or gigabytes of section names.
 *
 *	enum elf_opened why;
 *	Elf *elf = elf_begin_bounded(fd, &why);	// NULL: why
 *
 * The headers are read with pread before libelf sees the file, and the whole library opens libelf only
 * through this function. A file is also refused if holes make up more than half of the bytes that its
 * sections claim, because libelf would read zeros for them. A change between the check and libelf's own
 * reading is not detected.
 */
#ifndef CPROF_ELF_BOUNDS_H
#define CPROF_ELF_BOUNDS_H

#include <libelf.h>

#include "common/elf/elffile.h"

enum { ELF_NOTES_MAX = 1 << 20 }; /* bytes of a section or segment of notes; larger ones are not read */

/* Returns ELF_OPENED if the file is within all limits, even if not whole. Moves the descriptor's offset. */
enum elf_opened elf_check_bounds(int fd);
/* Returns true if the file has less than about half of this many bytes of data, the rest being holes. */
bool elf_is_sparse(int fd, uint64_t bytes);
/* Checks the limits and opens the file with libelf. Returns NULL on failure, with the reason in *why. */
Elf *elf_begin_bounded(int fd, enum elf_opened *why);

#endif
