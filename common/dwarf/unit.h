/*
 * A module's DWARF in libdw, and the flattening of its units. Internal to common/dwarf.
 */
#ifndef CPROF_DWARF_UNIT_H
#define CPROF_DWARF_UNIT_H
#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/dwarf/entries.h"
#include "common/dwarf/flat.h"
#include "common/dwarf/inflate.h"
#include "common/dwarf/lines.h"
#include "common/elf/parts.h"

/* The sections that may contain texts, so that no text is read beyond its section. */
enum home_part { HOME_INFO, HOME_STR, HOME_LINE_STR, HOME_PARTS };

struct home {
	struct slice parts[HOME_PARTS];
};

struct unit {
	uint64_t die, end; /* offsets in .debug_info */
	uint64_t abbrevs;  /* offset in .debug_abbrev */
	struct flat *flat; /* NULL: not flattened yet, or freed again */
	bool cut;          /* counted in n_cut of struct lines */
};

/* A range of addresses that a unit covers. */
struct span {
	uint64_t start, end;
	uint64_t reached; /* the largest end of this span and those before it */
	uint32_t unit;
};

/* The cached result for an address. Two results fit into one cache line. */
enum place_state { PLACE_UNKNOWN, PLACE_EMPTY, PLACE_FOUND };

struct place {
	uint64_t vaddr;
	const struct flat_node *nodes;
	uint32_t node;
	uint32_t file, line; /* from the row */
	uint32_t state;      /* enum place_state */
};

struct lines {
	Elf *elf;
	int fd; /* kept open only if libdw needs it to find .dwo files again; otherwise -1 */
	Dwarf *dwarf;
	struct elf_file *alt;
	Dwarf *alt_dwarf;
	struct inflated inflated; /* the decompressed sections of both files */
	struct code code;
	struct line_sections sections;
	struct slice abbrevs, rnglists;
	struct home main, other, split; /* for the file, the dwz file, the current .dwo file */
	struct unit *units;
	size_t n_units, cap_units;
	size_t n_cut; /* units of which something was left out at a limit */
	struct span *spans; /* by start */
	size_t n_spans, cap_spans;
	struct intern texts;
	struct idmap names; /* address of a function's DIE to its name */
	struct entries entries; /* for the current unit */
	struct line_scratch scratch;
	struct flat_piece *pieces; /* working memory */
	size_t cap_pieces;
	struct place *cache; /* NULL until the first look-up */
	char *path;         /* the file's, absolute; NULL: do not look for .dwo files */
	enum { PACKAGE_NEW, PACKAGE_HARMLESS, PACKAGE_REFUSED } package; /* see may_open_package */
	size_t section_bytes, text_bytes, flat_bytes, libdw_bytes;
	size_t bytes_max;
	uint64_t work; /* bytes and rows decoded so far */
};

/* Reads the attributes of any DIE with libdw. Returns false if the DIE cannot be decoded to its end. */
bool attributes_read(Dwarf_Die *die, struct attributes *a);
/* Returns the base address of the unit's ranges, from the attributes of its entry outside any .dwo file. */
uint64_t unit_base(const struct attributes *a);
/*
 * Finds the next range of a DIE, clipped to code. Returns false after the last one; walk must then not be
 * used again. A range outside code is returned as an empty one. Begin with a zero offset.
 */
struct range_walk {
	ptrdiff_t offset;
	Dwarf_Addr base;
	bool based; /* base is the unit's, so libdw need not look for it */
};
bool range_next(const struct lines *l, Dwarf_Die *die, const struct attributes *a, struct range_walk *walk,
		struct code_range *range);
/* Finds or adds a text, cut to LINES_TEXT_MAX bytes. Returns false if out of memory. */
bool text_number(struct lines *l, struct slice text, uint32_t *number);
/* Decodes a whole unit. Returns NULL if out of memory. */
struct flat *unit_flatten(struct lines *l, const struct unit *u);

/* Finds the code ranges, by sections or, if there are none, by segments. Returns false if out of memory. */
bool code_find(struct code *code, Elf *elf, const struct elf_file *f);
/*
 * libdw reads and decompresses all sections that it knows. So this hides unused ones from it, checks the
 * sizes of the others and inflates them. Adds their size to *bytes; *info tells whether there is a
 * .debug_info. Returns false if one is too large or damaged, and counts it in unread unless that is NULL.
 */
bool prepare_sections(Elf *elf, int fd, struct inflated *inflated, size_t *bytes, bool *info, struct lines_unread *unread);
/* Counts the used sections that libelf has not read whole, after dwarf_begin_elf. unread may be NULL. */
void count_unread(Elf *elf, int fd, struct lines_unread *unread);
/* Finds the sections of this file that may contain texts. ending is "" or ".dwo". */
void home_find(struct home *home, Elf *elf, const char *ending);
/* Returns the bytes of a section after decompression, by its name after ".debug_". Empty if there is none. */
struct slice debug_section(Elf *elf, const char *name, const char *ending);

#endif
#endif
