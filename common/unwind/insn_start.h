/*
 * Whether an instruction starts at an address. A probe in the middle of one would change it into another.
 *
 *	if (!insn_starts(f, vaddr))
 *		...it does not, or nothing shows that it does...
 *
 * On x86-64 the code is decoded from the start of the function, which .eh_frame or a symbol gives.
 */
#ifndef CPROF_UNWIND_INSN_START_H
#define CPROF_UNWIND_INSN_START_H

#include "common/elf/elffile.h"

/* vaddr is a linked address. Returns false in doubt. */
bool insn_starts(const struct elf_file *f, uint64_t vaddr);

#endif
