/*
 * The texts around a flame graph, made from the captures that it shows: title, subtitle, and the title of the
 * browser's tab; the line in words, and a caution if there are few samples.
 *
 *	struct captions texts = { 0 };
 *
 *	captions_note(&texts.filters, option_row, "make");	// for each filter, such as --comm
 *	captions_find(&texts, &profile, &filters.view);		// before the profile is transformed
 *	...filters_shape...
 *	captions_put(&texts, &picture, sides, &profile, &filters.view);
 *	...
 *	captions_release(&texts);				// after the last use of the picture
 *
 * A title, subtitle or unit that the picture has already stays. All functions exit if out of memory.
 */
#ifndef CPROF_CMD_CAPTIONS_H
#define CPROF_CMD_CAPTIONS_H

#include "cmd/shared/command_line.h"
#include "cmd/shared/input.h"
#include "common/flame/picture.h"

/* All zero to begin with. */
struct captions {
	struct buf filters, title, subtitle, tab; /* the picture points into the last three */
	struct buf commands[PROFILE_SIDES];       /* the main command of each side, empty if there is none */
	uint64_t weight[PROFILE_SIDES];           /* before the profile was transformed */
};

/* Adds an option that selects samples or stacks to the filters. value: NULL if it has none. */
void captions_note(struct buf *filters, const struct option_row *option, const char *value);
void captions_find(struct captions *c, const struct profile *p, const struct view *v);
void captions_put(struct captions *c, struct picture *pic, const struct loaded *sides,
		  const struct profile *p, const struct view *v);
void captions_release(struct captions *c);

#endif
