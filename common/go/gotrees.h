/*
 * Trees of calls that Go's compiler inlined, one for each function that has any. For gonames.c only.
 *
 * A list of values gives each instruction the number of its call in the tree, or -1. A call has a name, and
 * names the instruction of the function whose file, line and tree number are those of the call site.
 * Following these instructions leads from the innermost call outward.
 *
 * The location of the trees, and which of a record's lists belongs to them, changed between Go versions that
 * the tables do not distinguish. The first possibility that makes sense for the existing trees is used.
 */
#ifndef CPROF_GO_GOTREES_H
#define CPROF_GO_GOTREES_H

#include "common/go/gopclntab.h"

struct gotrees {
	uint64_t vaddr;      /* linked address of the bytes, */
	struct slice bytes;  /* which hold all trees; owned */
	uint64_t base;       /* base of the tree offsets in records: 0, or go:func.* */
	unsigned int entry;  /* bytes of a call; 0: there are no trees, or they were not found */
	unsigned int list, data; /* which of a record's lists, and which of its data */
};

/* Fields of a record that unwinding does not need. */
struct go_details {
	uint32_t files, lines, indexes; /* lists of values; 0: absent */
	uint32_t unit;
	uint64_t tree; /* its linked address; 0: nothing is inlined */
};

struct gotree_call {
	uint32_t name;
	uint32_t parent; /* an instruction at the call site, as an offset from the function's start */
};

/* Returns false if out of memory. Without trees, trees->entry is 0. */
bool gotrees_open(const struct elf_file *f, const struct gopclntab *t, struct gotrees *trees);
void gotrees_close(struct gotrees *trees);
/* Returns false if the record is cut short. */
bool gotrees_details(const struct gotrees *trees, const struct gopclntab *t, const struct go_function *fn,
		     struct go_details *d);
/* Returns false if there is no such call. */
bool gotrees_call(const struct gotrees *trees, uint64_t tree, uint32_t i, struct gotree_call *call);

#endif
