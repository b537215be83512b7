/*
 * The names that a Go program carries, stripped or not: by .gopclntab, its own table of functions, with what was
 * inlined into them and the source lines.
 *
 *	struct gonames *g;
 *	struct goname_call calls[GONAMES_DEPTH];
 *
 *	if (!gonames_open(f, &g))	// f may be settled afterwards
 *		...out of memory...
 *	uint32_t i = g ? gonames_find(g, vaddr) : GONAME_NONE;
 *	if (i != GONAME_NONE)
 *		...gonames_name(g, i), vaddr - gonames_start(g, i)...
 *	size_t n = g ? gonames_chain(g, vaddr, calls) : 0;
 *	for (size_t k = 0; k < n; k++)
 *		...calls[0] is the function, calls[n - 1] the innermost of what is inlined there...
 *	gonames_free(g);
 *
 * An address is a linked one and means its own instruction: of a return address, ask for the byte before. A function
 * reaches to where the next one begins, with the padding behind its code.
 *
 * Read are the tables of Go 1.2 to 1.26 for amd64. Inlined calls are known from Go 1.13 on. Before, and where the trees
 * are not found, a chain is the function alone.
 *
 * Sources: "Go 1.2 Runtime Symbol Information" (Russ Cox, 2013); Go's runtime/symtab.go, symtabinl.go, runtime2.go and
 * internal/abi/symtab.go, of several versions.
 */
#ifndef CPROF_RESOLVE_GONAMES_H
#define CPROF_RESOLVE_GONAMES_H

#include "common/elf/elffile.h"

#define GONAME_NONE UINT32_MAX

enum { GONAMES_DEPTH = 64 }; /* where more is inlined into each other, the chain is the function alone */

/* Slices are good until gonames_free. */
struct goname_call {
	struct slice name;
	struct slice file; /* empty: not known */
	uint32_t line;     /* 0: not known; in the outer ones, of the call to the next */
};

struct gonames;

/* *g is NULL where the file has no such table, or none that makes sense. False without memory. */
bool gonames_open(const struct elf_file *f, struct gonames **g);
void gonames_free(struct gonames *g);
/* The number of the function that the address lies in, or GONAME_NONE. */
uint32_t gonames_find(const struct gonames *g, uint64_t vaddr);
/* Of a function: where it begins, as linked; what it is called. */
uint64_t gonames_start(const struct gonames *g, uint32_t i);
struct slice gonames_name(const struct gonames *g, uint32_t i);
/* A number that the caller may keep with the function, 0 at first. */
uint32_t *gonames_tag(struct gonames *g, uint32_t i);
/* From the function inward. How many of calls[GONAMES_DEPTH] there are; 0: the address is in no function. */
size_t gonames_chain(const struct gonames *g, uint64_t vaddr, struct goname_call *calls);
/* Memory that it holds, about. */
size_t gonames_bytes(const struct gonames *g);

#endif
