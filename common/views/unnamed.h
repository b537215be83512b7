/*
 * How much of a profile ends in code without a name.
 *
 *	uint64_t weight[PROFILE_SIDES];
 *
 *	unnamed_weight(&profile, weight);
 *
 * A frame without a name is a place, "[app+0x128f]", or "[anon]", "[jit]" or "[unknown]", in a capture and in
 * folded text.
 */
#ifndef CPROF_VIEWS_UNNAMED_H
#define CPROF_VIEWS_UNNAMED_H

#include "common/profile/profile.h"

/* Sets weight[side] for each side, in the unit of the profile. */
void unnamed_weight(const struct profile *p, uint64_t *weight);

#endif
