/*
 * What cprof-fold, cprof-top and cprof-diff have in common: the options that say which samples count and
 * what functions are called. operand.h reads what they are applied to.
 */
#ifndef CPROF_CMD_FILTERS_H
#define CPROF_CMD_FILTERS_H

#include <getopt.h>
#include <regex.h>

#include "cmd/cli.h"
#include "common/profile/alike.h"
#include "common/profile/lines.h"
#include "common/profile/module.h"
#include "common/profile/shape.h"
#include "common/profile/view.h"

enum filter_option {
	FILTER_PID = 0x100,
	FILTER_TID,
	FILTER_COMM,
	FILTER_IN,
	FILTER_LABEL,
	FILTER_MATCH, /* the four expressions stand together */
	FILTER_FOCUS,
	FILTER_EXCLUDE,
	FILTER_BASE,
	FILTER_FROM,
	FILTER_TO,
	FILTER_WEIGHT,
	FILTER_EVENT,
	FILTER_WALL,
	FILTER_FULL_PATHS,
	FILTER_NORM,
	FILTER_COLLAPSE,
	FILTER_MIN,
	FILTER_REVERSE, /* has no row below: only fold and flame have it */
	FILTER_BY,      /* nor has this one: --by of cprof-convert is another */
	FILTERS_END, /* the first number that a command may use for its own */
};

enum { FILTER_EXPRESSIONS = FILTER_BASE - FILTER_MATCH + 1 };

/* For cli_option: the letters, the rows of the table, the line of the usage. */
#define FILTER_LETTERS "UKil"
#define FILTER_ROWS                                                                                  \
	{ "user", no_argument, NULL, 'U' }, { "kernel", no_argument, NULL, 'K' },                    \
	{ "pid", required_argument, NULL, FILTER_PID }, { "tid", required_argument, NULL, FILTER_TID }, \
	{ "comm", required_argument, NULL, FILTER_COMM },                                            \
	{ "in", required_argument, NULL, FILTER_IN }, { "label", required_argument, NULL, FILTER_LABEL }, \
	{ "match", required_argument, NULL, FILTER_MATCH },                                          \
	{ "focus", required_argument, NULL, FILTER_FOCUS },                                          \
	{ "exclude", required_argument, NULL, FILTER_EXCLUDE },                                      \
	{ "base", required_argument, NULL, FILTER_BASE },                                            \
	{ "norm", no_argument, NULL, FILTER_NORM },                                                  \
	{ "collapse-recursion", no_argument, NULL, FILTER_COLLAPSE },                                \
	{ "min", required_argument, NULL, FILTER_MIN },                                              \
	{ "from", required_argument, NULL, FILTER_FROM },                                            \
	{ "to", required_argument, NULL, FILTER_TO },                                                \
	{ "weight", required_argument, NULL, FILTER_WEIGHT },                                        \
	{ "event", required_argument, NULL, FILTER_EVENT }, { "wall", no_argument, NULL, FILTER_WALL }, \
	{ "inlined", no_argument, NULL, 'i' }, { "lines", no_argument, NULL, 'l' },                  \
	{ "full-paths", no_argument, NULL, FILTER_FULL_PATHS }
#define FILTER_USAGE                                                                                 \
	"[-ilUK] [--full-paths] [--pid PID,...] [--tid TID,...] [--comm NAME]\n"                     \
	"       [--in CONTAINER|CGROUP] [--label KEY=VALUE] [--from TIME] [--to TIME]\n"            \
	"       [--weight samples|ns] [--event NAME,... | --wall]\n"                                \
	"       [--match RE] [--focus RE] [--exclude RE] [--base RE] [--norm]\n"                    \
	"       [--collapse-recursion] [--min PERCENT]"

/* What to make of folded text with two counts a line, as cprof-diff --folded and difffolded.pl write it. */
enum columns {
	COLUMNS_ONE,     /* it is refused */
	COLUMNS_GUESSED, /* if it looks so at its beginning it is read as COLUMNS_TWO, which the filters say then */
	COLUMNS_TWO,     /* the first one is of the operand's side, the second one of the other */
};

struct operand_watch;

/* All zero to begin with. */
struct filters {
	const struct operand_watch *watch; /* NULL: nobody */
	struct view view; /* goes to gather.h; a command sets its own part of it */
	uint64_t *pids, *tids;
	const char **comms, **events;
	char *event_text; /* the names of events point into it */
	bool weighed;     /* --weight was given */
	const char **groups, **labels;
	size_t cap_pids, cap_tids, cap_comms, cap_groups, cap_labels, cap_events;
	struct shape shape; /* what is made of the profile; lends the expressions */
	regex_t expressions[FILTER_EXPRESSIONS];
	enum columns columns;
	/* For who needs no tree, or has no room for one: goes to struct folded_reader, see folded.h. */
	struct lines *lines;
	bool (*full)(struct profile *p, void *context);
	size_t budget;
	void *context;
	struct modules modules; /* in use where the view has it */
	/* What captures had, for filters_warn_none. */
	struct intern event_names;
	struct intern counted_names; /* those of the events that counted, which filters_events lists */
	struct buf chosen; /* the first event of --event, by which all have the same unit */
	const char *chosen_unit;
	struct alike alike; /* without --event: what was added up so far */
	uint64_t samples, passed;
};

/* Takes one option; false where it is none of these. Usage where its argument makes no sense. */
bool filters_option(struct filters *f, int option, const char *argument);
/* A number of seconds with up to nine places, in nanoseconds; or usage. */
uint64_t filters_seconds(const char *option, const char *text);
/* Usage where the options contradict each other. To be called after the last one; from then on *f stays where it is. */
void filters_check(struct filters *f);
void filters_release(struct filters *f);
/* Appends what is added up when that is not simply CPU time: "page-faults, sched:sched_switch"; else nothing. */
void filters_events(const struct filters *f, struct buf *out);

/*
 * "no sample counts, WHAT", where nothing came of all operands; and what there is instead, where samples were there and
 * none is what the options ask for.
 */
void filters_warn_none(const struct filters *f, const char *what);

/*
 * Dies, with the status of usage, where counts of different things have been added up, as each segment had them by default: to be
 * asked before the sum is shown. name: of the operand that is being read.
 */
void filters_check_alike(struct filters *f, const char *name);

/*
 * For who prints a table: files with one base name are to be kept apart, which is settled when all
 * operands have been read. sides: 2 if they are to be compared; stack_max: see modules_settle.
 */
void filters_keep_apart(struct filters *f);
void filters_settle(struct filters *f, struct profile *p, unsigned int sides, size_t stack_max);
/*
 * Makes the profile what --match, --focus, --exclude, --base, --norm and the others ask for (see shape.h); to be
 * called when all operands have been read and settled. Nodes have other numbers afterwards.
 */
void filters_shape(const struct filters *f, struct profile *p);

#endif
