/*
 * Where functions begin and end, by the ranges of .eh_frame: what a file without symbols still tells.
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
 * A part of a function that lies elsewhere (.cold) has a range of its own, and is one here. Ranges that overlap, which
 * no compiler makes, end where the next one begins.
 */
#ifndef CPROF_UNWIND_FUNCTIONS_H
#define CPROF_UNWIND_FUNCTIONS_H

#include "common/elf/elffile.h"

/* Addresses as linked. */
struct function_range {
	uint64_t start, end;
};

struct function_list {
	struct function_range *items; /* ascending, disjoint */
	size_t n, cap;
};

/* Empty where the file has no .eh_frame; of a damaged one, what could be read. False without memory. */
bool functions_read(const struct elf_file *f, struct function_list *l);
void functions_release(struct function_list *l);
bool functions_find(const struct function_list *l, uint64_t vaddr, size_t *i);

#endif
