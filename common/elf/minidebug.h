/*
 * Reads .gnu_debugdata: an ELF file compressed with xz, with the symbols that .dynsym lacks. Distributions
 * leave it in stripped binaries.
 *
 *	struct elf_file *mini;
 *
 *	if (!minidebug_open(f, &mini))
 *		...out of memory...
 *	if (mini)
 *		symbols_add(t, mini, SYMBOLS_SYMTAB | SYMBOLS_MINIDEBUG);
 *	elf_close(mini);
 *
 * A few bytes can be made to unpack to any size. A section that unpacks to more than MINIDEBUG_MAX bytes, or
 * to more than MINIDEBUG_RATIO times its size plus 1 MiB, is ignored. Symbols unpack to about five times
 * their size. Only common/elf includes liblzma.
 *
 * Source: gdb's manual, "Separate Debug Files" and "MiniDebugInfo".
 */
#ifndef CPROF_ELF_MINIDEBUG_H
#define CPROF_ELF_MINIDEBUG_H

#include "common/elf/elffile.h"

enum { MINIDEBUG_MAX = 64 << 20, MINIDEBUG_RATIO = 256 };

/*
 * Opens the ELF file in the section; the caller closes *mini. *mini is NULL if there is none, if it is
 * damaged or too large, or in a build without liblzma. Returns false if out of memory.
 */
bool minidebug_open(const struct elf_file *f, struct elf_file **mini);

#endif
