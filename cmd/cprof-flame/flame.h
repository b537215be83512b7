/*
 * The parts of cprof-flame: main.c parses and reads, looks.c has the options of the picture's look, moments.c
 * chooses the moments of the heat map, draw.c finishes the picture and writes it.
 *
 *	flame_take_look(&settings, FLAME_WIDTH, "width", "1200");
 *	flame_begin_moments(&settings, &filters.view);
 *	...read the operands...
 *	flame_finish_settings(&settings, &filters, &profile, sides);
 *	flame_draw(&settings, &profile, &filters, sides);
 *
 * All of them print their messages on standard error, and exit if an option is invalid or memory runs out.
 */
#ifndef CPROF_FLAME_CMD_FLAME_H
#define CPROF_FLAME_CMD_FLAME_H

#include "cmd/shared/facts/captions.h"
#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"
#include "cmd/shared/sides.h"
#include "common/annotate/source_block.h"
#include "common/flame/name_search.h"
#include "common/flame/picture.h"
#include "common/stats/changes.h"

/* The options of cprof-flame alone. */
enum {
	FLAME_DIFF = SIDES_END,
	FLAME_NEGATE,
	FLAME_HEATMAP,
	FLAME_SLICE,
	FLAME_LANES,
	FLAME_HASH,
	FLAME_TRUNCATED,
	FLAME_SOURCE,
	FLAME_SOURCE_DIR,
	/* Options from here up to FLAME_INVERTED are stored in the picture under their names. */
	FLAME_LOOKS,
	FLAME_TITLE = FLAME_LOOKS,
	FLAME_SUBTITLE,
	FLAME_NOTES,
	FLAME_WIDTH,
	FLAME_HEIGHT,
	FLAME_MINWIDTH,
	FLAME_FONTTYPE,
	FLAME_FONTSIZE,
	FLAME_COUNTNAME,
	FLAME_NAMETYPE,
	FLAME_COLORS,
	FLAME_BGCOLORS,
	FLAME_SEARCH,
	FLAME_INVERTED,
};

struct flame_settings {
	bool svg, diff, negate, heatmap, source;
	const char *source_dirs[SOURCE_DIRS_MOST];
	size_t n_source_dirs;
	struct buf sources;
	uint64_t slice_ms;
	uint64_t heat_ms; /* length of the moments */
	const char *lanes; /* chosen by the user; NULL: none is */
	bool over_time; /* draws directories: with the heat map in any case, and coarser moments */
	struct picture pic;
	struct changes_setup setup;
	struct search search;
	struct origins origins;
	struct captions captions;
	char *texts[FLAME_INVERTED - FLAME_LOOKS]; /* owned; lent to the picture */
	struct side sides[PROFILE_SIDES];          /* operands of --diff, if there are two or more */
	size_t after;                              /* operands after "--" */
};

/*
 * looks.c: takes an option from FLAME_LOOKS on, for the picture, and for the page under the option's name. An
 * invalid argument is a usage error.
 */
void flame_take_look(struct flame_settings *s, int option, const char *name, const char *argument);

/*
 * moments.c: sets the length of the view's moments, for a heat map and for the tests of a difference, and the
 * threads and CPUs of the lanes below the heat map.
 */
void flame_begin_moments(struct flame_settings *s, struct view *v);

/* draw.c: completes the settings that depend on the data read, and gives the profile its shape. */
void flame_finish_settings(struct flame_settings *s, struct filters *f, struct profile *p,
			   const struct loaded *sides);
/* Writes the picture or the page to standard output. */
void flame_draw(struct flame_settings *s, const struct profile *p, const struct filters *f,
		const struct loaded *sides);

#endif
