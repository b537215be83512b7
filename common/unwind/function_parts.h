/*
 * Finds the parts of a function that the compiler moved away from its start: those that have ".cold" in their
 * names if a file has symbols. In stripped files, branches from and to the function show its parts.
 *
 *	struct function_range parts[4];
 *	size_t n = function_parts(f, &list, start, parts, 4);	// list of functions_read()
 *
 * A range is a part if the function branches to it, and the range branches back to the middle of the
 * function, which no other function does. Parts that never return there (calls of abort) are not found.
 */
#ifndef CPROF_UNWIND_FUNCTION_PARTS_H
#define CPROF_UNWIND_FUNCTION_PARTS_H

#include "common/unwind/functions.h"

/*
 * Fills parts with at most `most` of the function that begins at start, the largest first. Returns their
 * number.
 */
size_t function_parts(const struct elf_file *f, const struct function_list *l, uint64_t start,
		      struct function_range *parts, size_t most);

#endif
