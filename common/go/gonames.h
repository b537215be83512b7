/*
 * Names from .gopclntab, the function table that every Go program carries, stripped or not: functions, the
 * calls inlined into them, and source lines.
 *
 *	struct gonames *g;
 *	struct goname_call calls[GONAMES_DEPTH];
 *
 *	if (!gonames_open(f, &g))	// elf_settle(f) is allowed afterwards
 *		...out of memory...
 *	uint32_t i = g ? gonames_find(g, vaddr) : GONAME_NONE;
 *	if (i != GONAME_NONE)
 *		...gonames_name(g, i), vaddr - gonames_start(g, i)...
 *	size_t n = g ? gonames_chain(g, vaddr, calls) : 0;
 *	for (size_t k = 0; k < n; k++)
 *		...calls[0] is the function, calls[n - 1] the innermost call inlined there...
 *	gonames_free(g);
 *
 * Addresses are linked ones and mean the instruction itself: for a return address, pass the byte before. A
 * function extends to the start of the next one, including the padding after its code.
 *
 * Reads the tables of Go 1.2 to 1.26 for amd64. Inlined calls are known from Go 1.13 on. For older versions,
 * and if the trees are not found, a chain is the function alone.
 *
 * Sources: "Go 1.2 Runtime Symbol Information" (Russ Cox, 2013); Go's runtime/symtab.go, symtabinl.go,
 * runtime2.go and internal/abi/symtab.go, of several versions.
 */
#ifndef CPROF_GO_GONAMES_H
#define CPROF_GO_GONAMES_H

#include "common/elf/elffile.h"

#define GONAME_NONE UINT32_MAX

enum { GONAMES_DEPTH = 64 }; /* a deeper chain is reduced to the function alone */

/* Slices are valid until gonames_free. */
struct goname_call {
	struct slice name;
	struct slice file; /* empty: unknown */
	uint32_t line;     /* 0: unknown; in all but the last, the line of the call to the next */
};

struct gonames;

/* Sets *g to NULL if the file has no such table, or none that makes sense. Returns false if out of memory. */
bool gonames_open(const struct elf_file *f, struct gonames **g);
void gonames_free(struct gonames *g);
/* Returns the number of the function that contains the address, or GONAME_NONE. */
uint32_t gonames_find(const struct gonames *g, uint64_t vaddr);
/* The linked address and the name of a function. */
uint64_t gonames_start(const struct gonames *g, uint32_t i);
struct slice gonames_name(const struct gonames *g, uint32_t i);
/* A number that the caller may keep with the function; initially 0. */
uint32_t *gonames_tag(struct gonames *g, uint32_t i);
/* Fills calls from the function inward. Returns their number, 0 if the address is in no function. */
size_t gonames_chain(const struct gonames *g, uint64_t vaddr, struct goname_call *calls);
/* Returns the memory in use, in bytes, approximately. */
size_t gonames_bytes(const struct gonames *g);

#endif
