/*
 * Turns the frames of one sample into nodes of a stream, with the names, files and mappings that the text has
 * of them.
 *
 *	size_t kernel = script_count_kernel(r);		// of r->stack
 *
 *	user = script_stack(r, kernel, r->n_stack, process);
 *	kernel = script_stack(r, 0, kernel, 0);
 *
 * For script_read.c. New definitions are in the stream on return.
 */
#ifndef CPROF_PERFSCRIPT_SCRIPT_STACK_H
#define CPROF_PERFSCRIPT_SCRIPT_STACK_H

#include "common/perfscript/script_read.h"

/* Returns how many of the innermost frames are the kernel's. */
size_t script_count_kernel(const struct script_reader *r);
/* Returns the node of the stack from index end - 1 (outermost) down to begin. process: 0 is the kernel. */
uint64_t script_stack(struct script_reader *r, size_t begin, size_t end, uint64_t process);

#endif
