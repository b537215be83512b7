/*
 * .gnu_debugdata: an ELF file with the symbols that .dynsym lacks, compressed by xz, which distributions leave in
 * stripped binaries.
 *
 *	struct elf_file *mini;
 *
 *	if (!minidebug_open(f, &mini))
 *		...out of memory...
 *	if (mini)
 *		symbols_add(t, mini, SYMBOLS_SYMTAB | SYMBOLS_MINIDEBUG);
 *	elf_close(mini);
 *
 * A few bytes can be made to unpack to any number of them: what becomes larger than MINIDEBUG_MAX, or than
 * MINIDEBUG_RATIO times what it was, is left alone. Symbols come to about five times. Only this room includes liblzma.
 *
 * Source: "Separate Debug Files: MiniDebugInfo", gdb's manual.
 */
#ifndef CPROF_ELF_MINIDEBUG_H
#define CPROF_ELF_MINIDEBUG_H

#include "common/elf/elffile.h"

enum { MINIDEBUG_MAX = 64 << 20, MINIDEBUG_RATIO = 256 };

/* *mini is NULL where there is none, where it is damaged or too large, and without liblzma. False without memory. */
bool minidebug_open(const struct elf_file *f, struct elf_file **mini);

#endif
