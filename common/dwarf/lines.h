/*
 * Inlined calls and source lines of one module, from its DWARF.
 *
 *	struct lines *l;
 *	struct lines_chain c;
 *
 *	if (lines_open(file, &(struct lines_options){ 0 }, &l) != LINES_OPENED)
 *		...it has no DWARF, or none that can be read...
 *	if (lines_find(l, vaddr, &c) > 0) {
 *		for (uint32_t i = 0; i < c.n; i++)	// the function itself, then what was inlined, inward
 *			...lines_text(l, c.level[i].name), lines_text(l, c.level[i].file), c.level[i].line...
 *	}
 *	lines_close(l);
 *
 * A compilation unit is flattened when an address in it is asked for the first time: its functions
 * and inlined calls become disjoint intervals, each with the innermost call that it belongs to, and
 * its line table becomes sorted rows. Look-ups are binary searches in those. libdw only decodes;
 * without it (HAVE_LIBDW) no file has lines.
 *
 * Which function an address has, where DWARF says several: of the units that cover it the first in
 * the file that has a function there; in a unit the one that comes last, so the innermost. Ranges that lie
 * in no executable section are not looked at: linkers leave them behind of code that they threw out.
 */
#ifndef CPROF_DWARF_LINES_H
#define CPROF_DWARF_LINES_H

#include "common/base/cursor.h"
#include "common/elf/elffile.h"

enum {
	LINES_LEVELS_MAX = 128,    /* calls inlined deeper are taken for a part of the last level */
	LINES_BYTES_MAX = 1 << 28, /* see bytes_max */
};

struct lines;

/* Debug sections that are there and cannot be read, and the reason of the first of them. */
struct lines_unread {
	size_t n;
	const char *why;
};

struct lines_options {
	/*
	 * Gives the dwz file that .gnu_debugaltlink names (as it is written there), or NULL; it must
	 * have the build ID. It becomes the callee's to close. Without this function there is none.
	 */
	struct elf_file *(*open_alt)(void *arg, struct slice name, struct slice build_id);
	void *arg;
	size_t bytes_max; /* of flattened units: beyond it all are let go, to be made again; 0: LINES_BYTES_MAX */
	bool split;       /* look for .dwo files where the module says they are, on this machine */
	struct lines_unread *unread, *alt_unread; /* of the file and of its dwz file, counted while it is opened; or NULL */
};

enum lines_opened {
	LINES_OPENED = 0,
	LINES_NONE = 1,    /* no .debug_info, or no libdw */
	LINES_DAMAGED = 2,
	LINES_NO_MEMORY = 3,
};

/*
 * Texts are numbers for lines_text; 0 is "". line 0: not known. Line and file of a level are those of
 * the call of the next level, and of the innermost those of the line table.
 */
struct lines_level {
	uint32_t name; /* linkage name, else the plain one; empty: none, take the ELF symbol's */
	uint32_t file; /* a whole path where the compiler's directory is known */
	uint32_t line;
};

struct lines_chain {
	uint32_t n; /* at least 1; level 0 is the function */
	struct lines_level level[LINES_LEVELS_MAX];
};

/*
 * The DWARF of an open file (not a settled one): the runtime file, or its separate debug file. The
 * file may be settled and closed after the call. *l is NULL after a failure.
 */
enum lines_opened lines_open(const struct elf_file *f, const struct lines_options *options, struct lines **l);
void lines_close(struct lines *l);

/*
 * What is at this address, which is one as linked, and the one to look for: of a return address that of the
 * byte before it. 1: found. 0: DWARF says nothing of it. -1: out of memory.
 */
int lines_find(struct lines *l, uint64_t vaddr, struct lines_chain *chain);

/* A number's text, NUL behind it; numbers and texts stay the same until lines_close. */
struct slice lines_text(const struct lines *l, uint32_t id);
/* Memory that it holds, about: sections, flattened units, texts. */
size_t lines_bytes(const struct lines *l);

#endif
