/*
 * The two sides of a comparison, before and after, each of one or more captures or texts: operands, reading,
 * and what the tests need to know of them.
 *
 *	struct side sides[PROFILE_SIDES] = { 0 };
 *	size_t after = sides_dashes(argc, argv);	// before getopt
 *	...
 *	if (!sides_take(sides, argv + optind, n, after)) ...a usage error...
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

/* One side: its operands and their sums. All zero to begin with. */
struct side {
	char **names;
	size_t n, cap;
	char title[256]; /* for messages */
	struct loaded loaded;
	double samples;  /* number of samples; INFINITY: unknown */
	uint32_t runs;
	bool had;        /* it had samples before the filters */
};

#define SIDES_WANTED                                                                                 \
	"two operands are required, before and after, or \"--\" between those before and those after"

/* Returns the number of operands after the first "--", or 0. getopt moves them to the end and drops "--". */
size_t sides_dashes(int argc, char **argv);
void sides_add(struct side *side, char *name);
/*
 * Assigns operands: "A B", or "A... -- B...". after: the number of operands after "--". Returns false if they
 * are neither.
 */
bool sides_take(struct side sides[PROFILE_SIDES], char **names, size_t n, size_t after);
/* Sets the titles. More than one standard input is a usage error. */
void sides_name(struct side sides[PROFILE_SIDES]);
/*
 * Reads every operand and fills in setup. losses: report those of each operand. Returns the worst status of
 * the operands.
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
/* Returns whether there is something to compare. One side may be empty. */
bool sides_comparable(const struct side sides[PROFILE_SIDES]);
void sides_release(struct side sides[PROFILE_SIDES]);

#endif
