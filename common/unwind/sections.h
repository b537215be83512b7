/*
 * Where in a file the unwind information is, and where the code. For this room, and the one that gives names.
 */
#ifndef CPROF_UNWIND_SECTIONS_H
#define CPROF_UNWIND_SECTIONS_H

#include "common/elf/elffile.h"

struct section {
	struct slice bytes; /* good until the file is closed or settled */
	uint64_t vaddr;     /* as linked */
	bool no_end;        /* found by its address alone: ends at its terminator, other bytes follow */
};

/* Is it for x86-64, a program or a library? */
bool sections_usable(const struct elf_file *f);
/* The section of this name that has bytes, decompressed if need be. */
bool section_find(const struct elf_file *f, const char *name, struct section *s);
/* .eh_frame, by name, or where the section headers are gone by PT_GNU_EH_FRAME. */
bool section_eh_frame(const struct elf_file *f, struct section *s);
/* The linked address of a section, or 0. */
uint64_t section_vaddr(const struct elf_file *f, const char *name);

/*
 * The executable PT_LOADs by address. Only these: linkers let the page-aligned file offset of the text
 * lie within the segment before, so another segment may contain the same byte of the file.
 */
struct code_map {
	struct elf_segment *items;
	size_t n;
};

bool code_map_init(struct code_map *m, const struct elf_file *f); /* false without memory */
void code_map_release(struct code_map *m);
/* The file offset of the code at this linked address, and how much of its segment's bytes there is from there on. */
bool code_map_offset(const struct code_map *m, uint64_t vaddr, uint64_t *offset, uint64_t *left);

/*
 * Where in the file code may be: its executable sections, or, where the section headers are gone, the executable
 * segments, which may have data in them, too (four times as much as code, with some linkers).
 */
struct code_range {
	uint64_t start, end; /* file offsets */
};

/* n of them, to be freed; NULL without memory. */
struct code_range *code_ranges(const struct elf_file *f, size_t *n);

#endif
