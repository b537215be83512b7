/*
 * A small ELF file with what names the code of a large one: its tables of symbols and functions, its notes,
 * if asked for its DWARF, without its code and data. It is laid out as separate debug files are: the
 * sections that are left out are there as SHT_NOBITS, with the numbers, addresses and sizes they had.
 *
 *	struct slim *s;
 *
 *	if (slim_plan(&s, runtime_file, debug_file, SLIM_DWARF) == SLIM_DONE)
 *		if (slim_holds(s) & ARCHIVED_NAMES)
 *			switch (slim_write(s, fd)) ...
 *	slim_free(s);
 *
 * Its program headers are those of the runtime file, offsets and all: an offset in the file that ran becomes
 * an address by them, though nothing lies there in this one. PT_NOTE and PT_GNU_EH_FRAME point at what was
 * kept; other segments have no bytes. A note in .note.cprof says what it holds (enum elf_archived), and
 * so that it is one of these.
 *
 * What is kept:
 *	.symtab, .dynsym, their strings; .plt, .plt.sec, .plt.got and the relocations that name their slots
 *	.gnu_debugdata, .eh_frame, .eh_frame_hdr where there is no .symtab
 *	of a Go program .gopclntab and the data that its inlined functions and its text's start are found by
 *	notes that are loaded, and the build ID
 *	SLIM_DWARF: .debug_*, .zdebug_*, .gnu_debugaltlink
 *
 * The same two files give the same bytes.
 */
#ifndef CPROF_ELF_SLIM_H
#define CPROF_ELF_SLIM_H

#include "common/elf/elffile.h"

enum { SLIM_DWARF = 1 };

enum slim_result {
	SLIM_DONE = 0,
	SLIM_DAMAGED = 1, /* a file makes no sense, or shrank */
	SLIM_NO_MEMORY = 2,
	SLIM_FAILED = 3, /* it could not be written: errno */
};

struct slim;

/*
 * From the file that ran and its separate debug file; either may be NULL, and be one that was made here. They
 * must stay open until slim_free. *s is NULL unless SLIM_DONE.
 */
enum slim_result slim_plan(struct slim **s, const struct elf_file *runtime, const struct elf_file *debug,
			   unsigned int what);
void slim_free(struct slim *s);
uint32_t slim_holds(const struct slim *s);
uint64_t slim_bytes(const struct slim *s);
/* Writes from the descriptor's position on. */
enum slim_result slim_write(const struct slim *s, int fd);

#endif
