/*
 * Inlined calls and source lines of one module, from its DWARF.
 *
 *	struct lines *l;
 *	struct lines_chain c;
 *
 *	if (lines_open(file, &(struct lines_options){ 0 }, &l) != LINES_OPENED)
 *		...it has no DWARF that can be read...
 *	if (lines_find(l, vaddr, &c) > 0) {
 *		for (uint32_t i = 0; i < c.n; i++)	// the function itself, then inlined ones, inward
 *			...lines_text(l, c.level[i].name), lines_text(l, c.level[i].file), c.level[i].line...
 *	}
 *	lines_close(l);
 *
 * A compilation unit is flattened when an address in it is first looked up: its functions and inlined calls
 * become disjoint intervals, each with the innermost call that it belongs to, and its line table becomes
 * sorted rows. Look-ups are binary searches in both. libdw only decodes; without it (HAVE_LIBDW) no file has
 * lines.
 *
 * If DWARF gives several functions for an address, the unit that comes first in the file and has a function
 * there counts; within the unit, the function that comes last, so the innermost. Ranges outside executable
 * sections are ignored: linkers leave them for code that they discarded.
 */
#ifndef CPROF_DWARF_LINES_H
#define CPROF_DWARF_LINES_H

#include "common/base/cursor.h"
#include "common/elf/elffile.h"

enum {
	LINES_LEVELS_MAX = 128,    /* calls inlined more deeply count as part of the last level */
	LINES_BYTES_MAX = 1 << 28, /* see bytes_max */
};

struct lines;

/*
 * A line, a call or a unit takes few bytes in the file, so a crafted one could claim gigabytes. The parts
 * of a unit are limited (line_table.h, unit.c). These are limits of the whole file.
 */
enum {
	LINES_UNITS_MAX = 1 << 20, /* units, also those without code */
	LINES_SPANS_MAX = 1 << 23, /* ranges of units */
};

/* The number of debug sections that could not be read, and the reason for the first of them. */
struct lines_unread {
	size_t n;
	const char *why;
};

struct lines_options {
	/*
	 * Returns the dwz file with the name in .gnu_debugaltlink, as written there, and this build ID; or
	 * NULL. lines_open takes the file over. If open_alt is NULL, no dwz file is used.
	 */
	struct elf_file *(*open_alt)(void *arg, struct slice name, struct slice build_id);
	void *arg;
	size_t bytes_max; /* limit for flattened units; beyond it all are freed; 0: LINES_BYTES_MAX */
	bool split;       /* look for .dwo files on this machine, at the paths in the module */
	/* Filled by lines_open, for the file and for its dwz file; may be NULL. */
	struct lines_unread *unread, *alt_unread;
};

enum lines_opened {
	LINES_OPENED = 0,
	LINES_NONE = 1,    /* no .debug_info, or no libdw */
	LINES_DAMAGED = 2,
	LINES_NO_MEMORY = 3,
};

/*
 * Texts are ids for lines_text; 0 is "". The file and line of a level are those of its call to the next
 * level; for the innermost level they come from the line table.
 */
struct lines_level {
	uint32_t name; /* linkage name, otherwise the plain one; 0: none, use the ELF symbol's */
	uint32_t file; /* a whole path if the compiler's directory is known; 0: unknown */
	uint32_t line; /* 0: unknown */
};

struct lines_chain {
	uint32_t n; /* at least 1; level 0 is the function */
	struct lines_level level[LINES_LEVELS_MAX];
};

/*
 * Opens the DWARF of an open file (not a settled one): the runtime file, or its separate debug file. The file
 * may be settled and closed after the call. *l is NULL after a failure.
 */
enum lines_opened lines_open(const struct elf_file *f, const struct lines_options *options, struct lines **l);
void lines_close(struct lines *l);

/*
 * Looks up a linked address; for a return address, pass that of the byte before it. Returns 1 if found, 0 if
 * DWARF has nothing about it, -1 if out of memory.
 */
int lines_find(struct lines *l, uint64_t vaddr, struct lines_chain *chain);

/* Returns the text of an id, followed by a NUL. Ids and texts are valid until lines_close. */
struct slice lines_text(const struct lines *l, uint32_t id);
/* Returns about how many bytes of memory sections, flattened units and texts hold. */
size_t lines_bytes(const struct lines *l);
/* Returns the number of units of which something was left out so far, because of a limit. */
size_t lines_cut(const struct lines *l);

#endif
