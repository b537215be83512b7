/*
 * Debug information about the places of one module: the source line, and the functions inlined there.
 *
 *	struct inline_chain *l;
 *
 *	if (!inline_chain_open(&options, file, &identity, path, go, &l))	// file: still open, or NULL
 *		...out of memory...
 *	n = l ? inline_chain_find(l, vaddr, &texts, demangle_mode, &level) : 0;
 *	inline_chain_close(l);
 *
 * The source is the file's own DWARF, that of its debug file, or Go's table. Texts are numbers in an intern
 * of the caller, which must be the same in all calls.
 */
#ifndef CPROF_RESOLVE_INLINE_CHAIN_H
#define CPROF_RESOLVE_INLINE_CHAIN_H

#include "common/base/intern.h"
#include "common/demangle/demangle.h"
#include "common/locate/finder.h"
#include "common/go/gonames.h"

/*
 * A function at a place. Level 0 is the one that the symbol table names; each further one is inlined into the
 * one before it. A number is 0 if unknown.
 */
struct level {
	uint32_t name;
	/* position: in the last level the place itself, in others the call of the next */
	uint32_t file, line;
};

struct inline_chain;

/* The wanted parts. Without INLINE_CHAIN_INLINED there is level 0 alone, with the line of the place. */
enum { INLINE_CHAIN_INLINED = 1, INLINE_CHAIN_LINES = 2 };

struct inline_chain_options {
	struct finder *finder;
	unsigned int what;
	size_t bytes_max; /* limit of its memory, approximate */
};

/*
 * path is the path of file. go is a Go program's table or NULL; it is used where DWARF has nothing, and is
 * lent until inline_chain_close. Sets *l to NULL if there is nothing. Returns false if out of memory.
 */
bool inline_chain_open(const struct inline_chain_options *o, const struct elf_file *file, const struct module_identity *is,
		 struct slice path, const struct gonames *go, struct inline_chain **l);
void inline_chain_close(struct inline_chain *l);
/*
 * Sets *found to the levels at this linked address, lent until the next call. Returns their number, 0 if
 * nothing is known, -1 if out of memory.
 */
long inline_chain_find(struct inline_chain *l, uint64_t vaddr, struct intern *texts, enum demangle_mode demangle,
		 const struct level **found);
size_t inline_chain_bytes(const struct inline_chain *l);

#endif
