/*
 * Bounds of what a foreign ELF file may ask of libelf, which believes its headers: a sparse file of 12 kB may have millions of
 * sections, or names of gigabytes.
 *
 *	enum elf_opened why;
 *	Elf *elf = elf_begin_bounded(fd, &why);	// NULL: why
 *
 * The headers are read by pread before libelf sees the file; all of the library comes to libelf by way of this. A file of
 * which more than half of the bytes that its sections claim are holes is refused as well: libelf would read zeros for them.
 * A change between the check and libelf's own reading is not seen.
 */
#ifndef CPROF_ELF_BOUNDS_H
#define CPROF_ELF_BOUNDS_H

#include <libelf.h>

#include "common/elf/elffile.h"

enum { ELF_NOTES_MAX = 1 << 20 }; /* bytes of one section or segment of notes that are read */

/* ELF_OPENED: within all bounds; it need not be a whole ELF file. The offset of the descriptor is moved. */
enum elf_opened elf_check_bounds(int fd);
Elf *elf_begin_bounded(int fd, enum elf_opened *why);

#endif
