/*
 * The mapping of the main executable, after which a reader names the whole profile.
 *
 *	uint32_t mapping;
 *
 *	if (!mainfile_find(&traces, &mapping)) ...out of memory...
 *	if (mapping) ...its path names the profile...
 */
#ifndef CPROF_EXPORT_MAIN_FILE_H
#define CPROF_EXPORT_MAIN_FILE_H

#include "common/export/traces.h"

/*
 * Takes the process with the most samples. From the files in its stacks, chooses the one that its command is
 * named after, otherwise the lowest one that is not a shared library. *mapping is 0 if there is none. Traces
 * must be settled. Returns false if out of memory.
 */
bool mainfile_find(const struct traces *s, uint32_t *mapping);

#endif
