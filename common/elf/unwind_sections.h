/*
 * Finds the unwind information and the code in a file. For this directory, and the one that resolves names.
 */
#ifndef CPROF_ELF_UNWIND_SECTIONS_H
#define CPROF_ELF_UNWIND_SECTIONS_H

#include "common/elf/elffile.h"

struct section {
	struct slice bytes; /* valid until the file is closed or settled */
	uint64_t vaddr;     /* linked address */
	bool no_end;        /* found by address only: it ends at its terminator, other bytes follow */
};

/* Returns true for an x86-64 program or library. */
bool unwind_sections_usable(const struct elf_file *f);
/* Finds the section of this name if it has bytes; decompresses it if necessary. */
bool section_find(const struct elf_file *f, const char *name, struct section *s);
/* Returns true if the file has a section of this name that section_find had no memory for. */
bool section_lost(const struct elf_file *f, const char *name);
/* Finds .eh_frame by name or, without section headers, by PT_GNU_EH_FRAME. */
bool section_eh_frame(const struct elf_file *f, struct section *s);
/* Returns the linked address of a section, or 0. */
uint64_t section_vaddr(const struct elf_file *f, const char *name);

/*
 * The executable PT_LOADs, by address. Only these: linkers may let the page-aligned file offset of the text
 * be within the segment before, so another segment may contain the same byte of the file.
 */
struct code_map {
	struct elf_segment *items;
	size_t n;
};

bool code_map_init(struct code_map *m, const struct elf_file *f); /* false if out of memory */
void code_map_release(struct code_map *m);
/*
 * Finds the file offset of the code at this linked address, and *left, the rest of its segment's bytes from
 * there on. Returns false if there is no code.
 */
bool code_map_offset(const struct code_map *m, uint64_t vaddr, uint64_t *offset, uint64_t *left);

/*
 * The parts of the file that may hold code: its executable sections or, without section headers, its
 * executable segments. Those may hold data, too (with some linkers four times as much as code).
 */
struct code_range {
	uint64_t start, end; /* file offsets */
};

/* Returns n ranges, to be freed; NULL if out of memory. */
struct code_range *code_ranges(const struct elf_file *f, size_t *n);

#endif
