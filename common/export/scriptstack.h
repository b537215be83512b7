/*
 * The frames of one sample as nodes of a stream: with the names, files and mappings that the text has of them.
 *
 *	size_t kernel = script_count_kernel(r);		// of r->stack
 *
 *	user = script_stack(r, kernel, r->n_stack, process);
 *	kernel = script_stack(r, 0, kernel, 0);
 *
 * For scriptread.c. What is new is in the stream when this returns.
 */
#ifndef CPROF_EXPORT_SCRIPTSTACK_H
#define CPROF_EXPORT_SCRIPTSTACK_H

#include "common/export/scriptread.h"

/* How many of the innermost frames are the kernel's. */
size_t script_count_kernel(const struct script_reader *r);
/* The stack from index end - 1, the outermost frame, down to begin; its node. process: 0 is the kernel. */
uint64_t script_stack(struct script_reader *r, size_t begin, size_t end, uint64_t process);

#endif
