/*
 * A module's DWARF as libdw has it, and how a unit of it is flattened; for this room only.
 */
#ifndef CPROF_DWARF_UNIT_H
#define CPROF_DWARF_UNIT_H
#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>

#include "common/base/hash.h"
#include "common/dwarf/entries.h"
#include "common/dwarf/flat.h"
#include "common/dwarf/inflate.h"
#include "common/dwarf/lines.h"
#include "common/elf/parts.h"

enum { LINES_TEXT_MAX = 8192 }; /* bytes of a name or path; longer names are cut, longer paths left out */

/* Where texts may lie, so that none is read beyond its section. */
enum home_part { HOME_INFO, HOME_STR, HOME_LINE_STR, HOME_PARTS };

struct home {
	struct slice parts[HOME_PARTS];
};

struct unit {
	uint64_t die, end; /* offsets in .debug_info */
	uint64_t abbrevs;  /* offset in .debug_abbrev */
	struct flat *flat; /* NULL: not asked for, or let go */
};

/* The addresses that a unit has something to say of. */
struct span {
	uint64_t start, end;
	uint64_t reached; /* the largest end up to here */
	uint32_t unit;
};

/* What an address came to: all that a look-up needs but the nodes. Two of them are one line of the CPU's cache. */
enum place_state { PLACE_UNKNOWN, PLACE_EMPTY, PLACE_FOUND };

struct place {
	uint64_t vaddr;
	const struct flat_node *nodes;
	uint32_t node;
	uint32_t file, line; /* of the row */
	uint32_t state;
};

struct lines {
	Elf *elf;
	int fd; /* kept only where libdw needs it to find .dwo files again */
	Dwarf *dwarf;
	struct elf_file *alt;
	Dwarf *alt_dwarf;
	struct inflated inflated; /* what libelf has of both */
	struct code code;
	struct line_sections sections;
	struct slice abbrevs, rnglists;
	struct home main, other, split; /* other: of the dwz file */
	struct unit *units;
	size_t n_units, cap_units;
	struct span *spans; /* by start */
	size_t n_spans, cap_spans;
	struct intern texts;
	struct idmap names; /* address of a function's DIE to its name */
	struct entries entries; /* of the unit in work */
	struct line_scratch scratch;
	struct flat_piece *pieces; /* to work in, too */
	size_t cap_pieces;
	struct place *cache; /* NULL until an address is asked for */
	char *directory;    /* where the file is; NULL: no .dwo files are looked for */
	size_t section_bytes, text_bytes, flat_bytes, libdw_bytes;
	size_t bytes_max;
	uint64_t work; /* bytes and rows that were decoded */
};

/* By libdw, of a DIE anywhere. False where it cannot be decoded to its end. */
bool attributes_read(Dwarf_Die *die, struct attributes *a);
/* The address that ranges of a unit with these attributes count from; it is in no .dwo file. */
uint64_t unit_base(const struct attributes *a);
/*
 * What a DIE covers, clipped to code: 1, and offset goes on; 0: no more, and offset is of no more use. A
 * range that lies elsewhere comes as one that is empty.
 */
struct range_walk {
	ptrdiff_t offset;
	Dwarf_Addr base;
	bool based; /* base is the unit's: libdw need not look for it */
};
bool range_next(const struct lines *l, Dwarf_Die *die, const struct attributes *a, struct range_walk *walk,
		struct code_range *range);
/* The number of a text, at most LINES_TEXT_MAX bytes of it; false without memory. */
bool text_number(struct lines *l, struct slice text, uint32_t *number);
/* Decodes a whole unit. NULL without memory. */
struct flat *unit_flatten(struct lines *l, const struct unit *u);

/* Where code can be: by the sections, or by the segments where there are none. False without memory. */
bool code_find(struct code *code, Elf *elf, const struct elf_file *f);
/*
 * libdw reads all sections that it knows, and makes them larger: keeps from it those that nobody asks for, sees
 * whether the others are bearable, and inflates them. *bytes grows by theirs; *info: there is .debug_info. False: one is
 * not bearable, and unread, if it is not NULL, counts it.
 */
bool prepare_sections(Elf *elf, int fd, struct inflated *inflated, size_t *bytes, bool *info, struct lines_unread *unread);
/* Adds the sections of use that libelf has not read whole, after libdw has begun. unread may be NULL. */
void count_unread(Elf *elf, int fd, struct lines_unread *unread);
/* The sections of this file that texts lie in; ending: "" or ".dwo". */
void home_find(struct home *home, Elf *elf, const char *ending);
/* A section that libdw has read (and made larger where it was compressed), by its name after ".debug_". */
struct slice debug_section(Elf *elf, const char *name, const char *ending);

#endif
#endif
