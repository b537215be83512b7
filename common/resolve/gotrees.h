/*
 * What Go's compiler inlined where: a tree for each function that has such calls. For gonames.c only.
 *
 * A list of values gives each instruction the number of its call in the tree, or -1. A call has a name, and the place
 * of an instruction of the function whose file, line and number in the tree are those of the call to it: so one climbs
 * from the innermost outward.
 *
 * Where the trees are, and which of a record's lists belongs to them, has changed with Go's versions, which tables do
 * not tell. Of what is possible that is taken which makes sense for the trees that there are.
 */
#ifndef CPROF_RESOLVE_GOTREES_H
#define CPROF_RESOLVE_GOTREES_H

#include "common/unwind/gopclntab.h"

struct gotrees {
	uint64_t vaddr;      /* of the bytes, */
	struct slice bytes;  /* which hold all trees; own */
	uint64_t base;       /* of trees as records know them: 0, or go:func.* */
	unsigned int entry;  /* bytes of a call; 0: there are no trees, or they were not found */
	unsigned int list, data; /* which of a record's lists, which of its data */
};

/* A record beyond what unwinding needs. */
struct go_details {
	uint32_t files, lines, indexes; /* lists of values; 0: there is none */
	uint32_t unit;
	uint64_t tree; /* its linked address; 0: nothing is inlined */
};

struct gotree_call {
	uint32_t name;
	uint32_t parent; /* an instruction that belongs to the call's place, from the function's start */
};

/* False without memory. */
bool gotrees_open(const struct elf_file *f, const struct gopclntab *t, struct gotrees *trees);
void gotrees_close(struct gotrees *trees);
/* False where the record is cut short. */
bool gotrees_details(const struct gotrees *trees, const struct gopclntab *t, const struct go_function *fn,
		     struct go_details *d);
/* False where there is no such call. */
bool gotrees_call(const struct gotrees *trees, uint64_t tree, uint32_t i, struct gotree_call *call);

#endif
