/*
 * What debug information says of the places of one module: the source line, and the functions inlined there.
 *
 *	struct levels *l;
 *
 *	if (!levels_open(&options, file, &identity, path, go, &l))	// file: open still, or NULL
 *		...out of memory...
 *	n = l ? levels_find(l, vaddr, &texts, demangle_mode, &level) : 0;
 *	levels_close(l);
 *
 * The file's own DWARF serves, or that of its debug file, or Go's table. Texts are numbers of an intern that is the
 * caller's, and the same at each call.
 */
#ifndef CPROF_RESOLVE_LEVELS_H
#define CPROF_RESOLVE_LEVELS_H

#include "common/base/hash.h"
#include "common/resolve/demangle.h"
#include "common/resolve/finder.h"
#include "common/resolve/gonames.h"

/*
 * A function that runs at a place: level 0 is the one that the symbol table names, each other one is inlined into the
 * one before it. 0 where unknown.
 */
struct level {
	uint32_t name;
	uint32_t file, line; /* what is executed there: in the last one the place itself, in others the call of the next */
};

struct levels;

/* What is wanted. Without inlined functions there is level 0 alone, and the place's line is its. */
enum { LEVELS_INLINED = 1, LEVELS_LINES = 2 };

struct levels_options {
	struct finder *finder;
	unsigned int what;
	size_t bytes_max; /* that it may hold, about */
};

/*
 * path: of the file. go: the table of a Go program or NULL, which serves where DWARF says nothing; lent until
 * levels_close. *l is NULL where there is nothing. False without memory.
 */
bool levels_open(const struct levels_options *o, const struct elf_file *file, const struct module_identity *is,
		 struct slice path, const struct gonames *go, struct levels **l);
void levels_close(struct levels *l);
/* How many at this address, which is one as linked; 0: nothing is known, -1: out of memory. Lent until the next call. */
long levels_find(struct levels *l, uint64_t vaddr, struct intern *texts, enum demangle_mode demangle,
		 const struct level **found);
size_t levels_bytes(const struct levels *l);

#endif
