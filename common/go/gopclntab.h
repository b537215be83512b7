/*
 * Go's function table, .gopclntab: where each function begins, its name, and how far rsp is below its entry
 * value at each of its instructions. For this directory, and the one that resolves names.
 *
 *	struct gopclntab t;
 *
 *	if (gopclntab_open(f, &code, &t) == GOPCLNTAB_FOUND)
 *		for (size_t i = 0; i < t.n; i++)
 *			if (gopclntab_function(&t, i, &fn))
 *				for (go_depths_begin(&t, &fn, &d); go_depths_next(&d); )
 *					...from d.start to d.end the depth is d.depth...
 *	gopclntab_close(&t);
 *
 * The runtime unwinds by this table, so no linker flag removes it. All layouts for amd64 are read: Go 1.2 to
 * 1.15, 1.16 and 1.17, 1.18 and 1.19, 1.20 and later, and the changes of Go 1.26.
 *
 * Sources: "Go 1.2 Runtime Symbol Information" (Russ Cox, 2013); Go's runtime/symtab.go, runtime/runtime2.go,
 * debug/gosym/pclntab.go.
 */
#ifndef CPROF_GO_GOPCLNTAB_H
#define CPROF_GO_GOPCLNTAB_H

#include "common/elf/elffile.h"
#include "common/elf/unwind_sections.h"

enum gopclntab_found {
	GOPCLNTAB_FOUND = 0,
	GOPCLNTAB_NONE = 1, /* or none for amd64, or of an unknown version */
	GOPCLNTAB_DAMAGED = 2,
	GOPCLNTAB_NO_MEMORY = 3,
};

struct gopclntab {
	size_t n;             /* functions */
	struct slice functab; /* address and record offset of each; after the last, the end address */
	/* the parts that a record's numbers are offsets in; the records themselves */
	struct slice names, values, records;
	/* numbers of four bytes: offset in paths, by unit and file (before 1.16 by file) */
	struct slice units;
	struct slice paths;
	unsigned int field;   /* bytes of a number in functab */
	unsigned int flag_at; /* offset in a record; 0: this version has no flags */
	uint64_t text;        /* to be added to functab's addresses */
	struct slice bytes;   /* the whole table */
	uint64_t vaddr;
	uint8_t *own; /* the bytes, if they are not the section's */
};

struct go_function {
	uint64_t start, end; /* linked addresses; includes the padding after the code */
	struct slice name;   /* a long one is cut */
	struct slice record; /* extends to the end of the records */
	uint32_t depths; /* offset in values; 0: unknown */
	bool moves_rsp;  /* flagged to write rsp other than by constants; always false before Go 1.17 */
};

/* Finds and reads the table. Its bytes are valid until f is closed or settled; see gopclntab_keep. */
enum gopclntab_found gopclntab_open(const struct elf_file *f, const struct code_map *code, struct gopclntab *t);
void gopclntab_close(struct gopclntab *t);
/* Copies the bytes to outlive the file. Returns false if out of memory (own is NULL), or if they changed. */
bool gopclntab_keep(struct gopclntab *t);
/* Fills in addresses in n bytes at vaddr, as the loader would: the file may hold zeroes there. */
void gopclntab_relocate(const struct elf_file *f, uint8_t *p, size_t n, uint64_t vaddr);
/* Returns the text at this offset, up to a NUL and at most max bytes; empty if that is beyond the part. */
struct slice gopclntab_text(struct slice part, uint32_t at, size_t max);
/* Returns the function's start according to functab. */
uint64_t gopclntab_start(const struct gopclntab *t, size_t i);

/* Returns false if the function's entry or record is invalid. */
bool gopclntab_function(const struct gopclntab *t, size_t i, struct go_function *fn);

/* A function's instructions in order, those of one depth together. */
struct go_depths {
	uint64_t start, end;
	int32_t depth;
	struct cursor in;
	uint64_t limit; /* the function's end */
	bool begun, damaged;
};

void go_depths_begin(const struct gopclntab *t, const struct go_function *fn, struct go_depths *d);
/* Returns false at the end, or if the list is damaged: nothing is known from d->end on then. */
bool go_depths_next(struct go_depths *d);

#endif
