/*
 * The outermost frames of a profile, which are commands: the one that a side is mostly of.
 *
 *	uint32_t command;
 *
 *	if (outermost_main(&profile, 0, &command) && command != OUTERMOST_NONE)
 *		...profile_text(&profile, command) has nearly all weight of the side...
 */
#ifndef CPROF_PROFILE_OUTERMOST_H
#define CPROF_PROFILE_OUTERMOST_H

#include "common/profile/profile.h"

enum { OUTERMOST_NONE = UINT32_MAX };

/* Sets *label to the outermost frame with at least nine tenths of the side's weight. False: out of memory. */
bool outermost_main(const struct profile *p, unsigned int side, uint32_t *label);

#endif
