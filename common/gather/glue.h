/*
 * Functions of interpreters that only pass calls on: the loop, and those between it and the functions that a
 * script calls.
 *
 *	if (glue_languages(name) & glue_bit(LANGUAGE_PYTHON))
 *		...the function does nothing that the user wrote or called...
 *
 * Functions that a script calls are not glue, whatever they do: builtin_sorted, rb_ary_each, Perl_pp_sort.
 */
#ifndef CPROF_GATHER_GLUE_H
#define CPROF_GATHER_GLUE_H

#include "common/base/cursor.h"
#include "common/stream/record.h"

static inline uint8_t glue_bit(uint64_t language)
{
	return (uint8_t)(1u << language);
}
_Static_assert(LANGUAGES <= 8, "a byte has a bit for each language");

/* Returns the bits of the languages whose interpreters have glue of this name. */
uint8_t glue_languages(struct slice name);

#endif
