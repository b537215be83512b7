/*
 * Which mapping is of the main executable: what a reader names the whole profile by.
 *
 *	uint32_t mapping;
 *
 *	if (!mainfile_find(&traces, &mapping)) ...out of memory...
 *	if (mapping) ...its path names the profile...
 */
#ifndef CPROF_EXPORT_MAINFILE_H
#define CPROF_EXPORT_MAINFILE_H

#include "common/export/traces.h"

/*
 * That of the process with the most samples: of the files in its stacks the one that its command is named after, else
 * the lowest one that is no shared library. 0: there is none. False without memory. After settling.
 */
bool mainfile_find(const struct traces *s, uint32_t *mapping);

#endif
