/*
 * The two sides of a comparison, before and after, each of one or more captures or texts: operands, reading,
 * and what the tests need to know of them.
 *
 *	struct side sides[PROFILE_SIDES] = { 0 };
 *	size_t after = sides_dashes(argc, argv);	// before getopt
 *	...
 *	if (sides_option(sides, option, argument)) ...it is about windows...
 *	...
 *	if (!sides_take(sides, argv + optind, n, after)) ...a usage error...
 *	sides_settle(sides, &filters.view);
 *	sides_name(sides);
 *	status = sides_load(sides, &filters, &profile, &setup, true);
 *	if (!sides_comparable(sides)) ...
 *	sides_release(sides);
 *
 * All functions exit if out of memory.
 */
#ifndef CPROF_CMD_SIDES_H
#define CPROF_CMD_SIDES_H

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"
#include "common/stats/changes.h"

/* Options that give a side a time window of its own, which replaces --from and --to. */
enum sides_option {
	SIDES_SPLIT = FILTERS_END, /* both the end of the first window and the beginning of the second */
	SIDES_BEFORE_FROM,
	SIDES_BEFORE_TO,
	SIDES_AFTER_FROM,
	SIDES_AFTER_TO,
	SIDES_END, /* the first number free for a command's own options */
};

#define SIDES_ROWS                                                                                           \
	{ OPTIONS_SELECT, SIDES_SPLIT, "split", "TIME", "compare captures before TIME and from then on" },   \
	{ OPTIONS_SELECT, SIDES_BEFORE_FROM, "before-from", "TIME", "--from of the first side" },            \
	{ OPTIONS_SELECT, SIDES_BEFORE_TO, "before-to", "TIME", "--to of the first side" },                  \
	{ OPTIONS_SELECT, SIDES_AFTER_FROM, "after-from", "TIME", "--from of the second side" },             \
	{ OPTIONS_SELECT, SIDES_AFTER_TO, "after-to", "TIME", "--to of the second side" }

/* One end of a side's time window. All zero: none. */
struct side_bound {
	struct time_arg at;
	const char *option, *text; /* as given */
};

/* One side: its operands and their sums. All zero to begin with. */
struct side {
	char **names;
	size_t n, cap;
	struct side_bound from, to;
	bool windowed;   /* one of them is the side's own */
	bool shared;     /* the other side has the same operands */
	char title[256]; /* for messages */
	struct loaded loaded;
	double samples;  /* number of samples; INFINITY: unknown */
	uint32_t runs;
	bool had;        /* it had samples before the filters */
	struct buf there; /* if no sample is in its window: "; recorded: 0 to 60 s" */
};

#define SIDES_WANTED                                                                                 \
	"two operands are required, before and after, or \"--\" between those before and those after, " \
	"or --split TIME"
/* The verdict, with the number of rows that changed, that of all rows, and keys_things. */
#define SIDES_CHANGED "%zu of %zu %s changed, at a false-discovery rate of 5 %%"

/* Returns the number of operands after the first "--", or 0. getopt moves them to the end and drops "--". */
size_t sides_dashes(int argc, char **argv);
void sides_add(struct side *side, char *name);
/* Handles one option. Returns false if the option is not about windows. An invalid time is a usage error. */
bool sides_option(struct side sides[PROFILE_SIDES], int option, const char *argument);
/* Returns the first of the given options that are about windows, or NULL. Call it before sides_settle. */
const char *sides_window_option(const struct side sides[PROFILE_SIDES]);
/*
 * Assigns operands: "A B", or "A... -- B...". after: the number of operands after "--". If the sides have
 * windows of their own, both can have the same operand; with --split they have all. Returns false if the
 * operands are none of these.
 */
bool sides_take(struct side sides[PROFILE_SIDES], char **names, size_t n, size_t after);
/* Opens the file of -o, which must not be one of the operands: see result_open. */
void sides_open_result(const struct side sides[PROFILE_SIDES]);
/*
 * Completes the windows by --from and --to, and checks them: an empty window, and a pipe that both sides
 * would read, are usage errors. Windows that overlap, or are in the wrong order, are reported.
 */
void sides_settle(struct side sides[PROFILE_SIDES], const struct view *v);
/* Sets the titles. More than one standard input is a usage error. */
void sides_name(struct side sides[PROFILE_SIDES]);
/*
 * Reads every operand and fills in setup. Warns of a file that is given twice. losses: report those of each
 * operand. Returns the worst status of the operands.
 */
enum status sides_load(struct side sides[PROFILE_SIDES], struct filters *f, struct profile *p,
		       struct changes_setup *setup, bool losses);
/*
 * If each side has one main command, and they differ, arranges that filters_shape joins them to one outermost
 * frame, and reports this. Call it before filters_shape.
 */
void sides_join(const struct side sides[PROFILE_SIDES], struct filters *f, struct profile *p);
/* Warns if all captures of the second side were recorded before those of the first one. */
void sides_warn_order(const struct side sides[PROFILE_SIDES]);
/*
 * Reports each side without samples, of which either the options have left none or which had none. An empty
 * file is accepted if strict is false. Returns STATUS_OK, STATUS_USAGE if options are the reason, or
 * STATUS_DAMAGED.
 */
enum status sides_report_empty(struct side sides[PROFILE_SIDES], struct filters *f, const struct profile *p,
			       bool strict);
/* Returns whether there is something to compare. One side may be empty. */
bool sides_comparable(const struct side sides[PROFILE_SIDES]);
void sides_release(struct side sides[PROFILE_SIDES]);

#endif
