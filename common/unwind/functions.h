/*
 * Function bounds from the ranges of .eh_frame, which even a file without symbols has.
 *
 *	struct function_list l;
 *	size_t i;
 *
 *	if (!functions_read(f, &l))
 *		...out of memory...
 *	if (functions_find(&l, vaddr, &i))
 *		...l.items[i].start...
 *	functions_release(&l);
 *
 * A separate part of a function (.cold) has a range of its own, and is an entry of its own here. Overlapping
 * ranges, which no compiler makes, end where the next one begins. Code between two ranges is a range, too: assembly,
of which nothing tells where its functions begin.
 */
#ifndef CPROF_UNWIND_FUNCTIONS_H
#define CPROF_UNWIND_FUNCTIONS_H

#include "common/elf/elffile.h"

/* Linked addresses. */
struct function_range {
	uint64_t start, end;
};

struct function_list {
	struct function_range *items; /* ascending, disjoint */
	size_t n, cap;
};

/* Reads the ranges; none without .eh_frame, the readable ones if it is damaged. False: out of memory. */
bool functions_read(const struct elf_file *f, struct function_list *l);
/*
 * Reads the functions of known size in the file's own symbol tables, those that the caller wants (NULL: all). Several
 * symbols at one address are one function, as long as the longest. Tables of more than 128 MB are left out. False: out
 * of memory.
 */
typedef bool function_wanted(const void *arg, const struct function_range *r);
bool functions_of_symbols(const struct elf_file *f, struct function_list *l, function_wanted *wanted, const void *arg);
void functions_release(struct function_list *l);
/* Sets *i to the function that contains the linked address. Returns false if there is none. */
bool functions_find(const struct function_list *l, uint64_t vaddr, size_t *i);

#endif
