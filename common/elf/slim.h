/*
 * Makes a small ELF file with the parts of a large one that name its code: tables of symbols and functions,
 * notes and, if requested, DWARF, without code and data. The layout is that of separate debug files: sections
 * left out remain as SHT_NOBITS, with their numbers, addresses and sizes.
 *
 *	struct slim *s;
 *
 *	if (slim_plan(&s, runtime_file, debug_file, SLIM_DWARF) == SLIM_DONE)
 *		if (slim_holds(s) & ARCHIVED_NAMES)
 *			switch (slim_write(s, fd)) ...
 *	slim_free(s);
 *
 * The program headers are those of the runtime file, including offsets, so they still convert offsets in the
 * runtime file to addresses, although this file has no bytes there. PT_NOTE and PT_GNU_EH_FRAME point at the
 * kept sections; other segments have no bytes. A note in .note.cprof marks the file and records its contents
 * (enum elf_archived).
 *
 * Kept sections:
 *	.symtab, .dynsym, their strings; .plt, .plt.sec, .plt.got, .iplt and the relocations that name their
 *	slots
 *	.gnu_debugdata, .eh_frame, .eh_frame_hdr, if there is no .symtab
 *	in a Go program, .gopclntab and the data needed to find inlined functions and the start of the text
 *	loaded notes, and the build ID
 *	SLIM_DWARF: .debug_*, .zdebug_*, .gnu_debugaltlink
 *
 * The output depends only on the two input files.
 */
#ifndef CPROF_ELF_SLIM_H
#define CPROF_ELF_SLIM_H

#include "common/elf/elffile.h"

enum { SLIM_DWARF = 1, SLIM_DOUBTFUL = 2 }; /* flags for slim_plan: keep DWARF; mark as ARCHIVED_DOUBTFUL */

enum slim_result {
	SLIM_DONE = 0,
	SLIM_DAMAGED = 1, /* an input file makes no sense, or shrank */
	SLIM_NO_MEMORY = 2,
	SLIM_FAILED = 3, /* writing failed, see errno */
};

struct slim;

/*
 * Plans the file from the runtime file and its separate debug file. Either may be NULL, but not both, and
 * either may be a file made here. Both must stay open until slim_free. *s is NULL unless SLIM_DONE.
 */
enum slim_result slim_plan(struct slim **s, const struct elf_file *runtime, const struct elf_file *debug,
			   unsigned int what);
void slim_free(struct slim *s);
/* Returns the contents, as flags of enum elf_archived. */
uint32_t slim_holds(const struct slim *s);
/*
 * Returns whether a file that holds this may replace one that holds `there`: if only one of them is doubtful,
 * the other one is better; otherwise it must lose nothing and gain something.
 */
bool slim_is_better(uint32_t there, uint32_t holds);
/* Returns the size of the file in bytes. */
uint64_t slim_bytes(const struct slim *s);
/* Writes the file at the descriptor's current position. */
enum slim_result slim_write(const struct slim *s, int fd);

#endif
