/*
 * Go's own table of functions, .gopclntab: where each begins, what it is called, how far rsp is below its
 * entry value at each of its instructions. For this room, and the one that gives names.
 *
 *	struct gopclntab t;
 *
 *	if (gopclntab_open(f, &t) == GOPCLNTAB_FOUND)
 *		for (size_t i = 0; i < t.n; i++)
 *			if (gopclntab_function(&t, i, &fn))
 *				for (go_depths_begin(&t, &fn, &d); go_depths_next(&d); )
 *					...from d.start to d.end the depth is d.depth...
 *	gopclntab_close(&t);
 *
 * The runtime itself unwinds by it, so no linker flag takes it away. All layouts for amd64 are read: Go 1.2 to 1.15,
 * 1.16 and 1.17, 1.18 and 1.19, 1.20 and later, and what Go 1.26 does differently.
 *
 * Sources: "Go 1.2 Runtime Symbol Information" (Russ Cox, 2013); Go's runtime/symtab.go, runtime/runtime2.go,
 * debug/gosym/pclntab.go.
 */
#ifndef CPROF_UNWIND_GOPCLNTAB_H
#define CPROF_UNWIND_GOPCLNTAB_H

#include "common/elf/elffile.h"
#include "common/unwind/sections.h"

enum gopclntab_found {
	GOPCLNTAB_FOUND = 0,
	GOPCLNTAB_NONE = 1, /* or none for amd64, or of a version that nobody has described yet */
	GOPCLNTAB_DAMAGED = 2,
	GOPCLNTAB_NO_MEMORY = 3,
};

struct gopclntab {
	size_t n;             /* functions */
	struct slice functab; /* of each: address, offset of its record; behind the last: where it ends */
	struct slice names, values, records; /* what a record's numbers are offsets in; the records themselves */
	struct slice units; /* numbers of four bytes: where in paths each is, by unit and by file (before 1.16 by file) */
	struct slice paths;
	unsigned int field;   /* bytes of one in functab */
	unsigned int flag_at; /* in a record; 0: this version has no flags */
	uint64_t text;        /* to be added to functab's addresses */
	struct slice bytes;   /* all of it */
	uint64_t vaddr;
	uint8_t *own; /* the bytes, where they are not the section's */
};

struct go_function {
	uint64_t start, end; /* as linked; with the padding behind it */
	struct slice name;   /* of a longer one the beginning */
	struct slice record; /* the rest of the records with it */
	uint32_t depths; /* where they are among the values; 0: not known */
	bool moves_rsp;  /* says to write rsp otherwise than by constants; always false before Go 1.17 */
};

enum gopclntab_found gopclntab_open(const struct elf_file *f, const struct code_map *code, struct gopclntab *t);
void gopclntab_close(struct gopclntab *t);
/* Makes the bytes its own, good beyond the file. False without memory (own is NULL then), or where they changed. */
bool gopclntab_keep(struct gopclntab *t);
/* Addresses in these bytes that the loader is to fill in: the file itself may hold zeroes there. */
void gopclntab_relocate(const struct elf_file *f, uint8_t *p, size_t n, uint64_t vaddr);
/* What stands there, up to a NUL and at most max bytes; empty where that is beyond the part. */
struct slice gopclntab_text(struct slice part, uint32_t at, size_t max);
/* Where functab says that the function begins. */
uint64_t gopclntab_start(const struct gopclntab *t, size_t i);

/* False where its entry or its record makes no sense. */
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
/* False at the end, or where it is damaged: from d->end on nothing is known then. */
bool go_depths_next(struct go_depths *d);

#endif
