/*
 * Options that the viewers share: which samples count, how functions are named and how the profile is
 * transformed. input.h reads captures and folded text by them.
 */
#ifndef CPROF_CMD_FILTERS_H
#define CPROF_CMD_FILTERS_H

#include <regex.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/facts/present.h"
#include "cmd/shared/facts/time_range.h"
#include "common/base/intern.h"
#include "common/select/mixed_events.h"
#include "common/folded/stack_sums.h"
#include "common/gather/gather_modules.h"
#include "common/profile/transform.h"
#include "common/select/recordings.h"
#include "common/select/view.h"

enum filter_option {
	FILTER_PID = 0x100,
	FILTER_TID,
	FILTER_COMM,
	FILTER_IN,
	FILTER_UID,
	FILTER_LABEL,
	FILTER_MATCH, /* the four regular expressions are consecutive */
	FILTER_FOCUS,
	FILTER_EXCLUDE,
	FILTER_BASE,
	FILTER_FROM,
	FILTER_TO,
	FILTER_WEIGHT,
	FILTER_EVENT,
	FILTER_WALL,
	FILTER_FULL_PATHS,
	FILTER_NATIVE,
	FILTER_NORM,
	FILTER_COLLAPSE,
	FILTER_MIN,
	FILTER_REVERSE, /* not in FILTER_ROWS: only fold and flame have it */
	FILTER_BLAME,   /* likewise: fold, top and flame */
	FILTER_BY,      /* not in FILTER_ROWS: cprof-convert has another --by */
	FILTER_NO_NAMES, /* likewise: the views */
	FILTER_LATENCY,  /* likewise: fold, top, flame and diff */
	FILTERS_END, /* the first number free for a command's own options */
};

enum { FILTER_EXPRESSIONS = FILTER_BASE - FILTER_MATCH + 1 };

/* Rows of the option table, see command_line.h. */
#define FILTER_ROWS_BY(weights, weight)                                                                     \
	{ OPTIONS_SELECT, 'U', "user", NULL, "only user stacks" },                                          \
	{ OPTIONS_SELECT, 'K', "kernel", NULL, "only kernel stacks" },                                      \
	{ OPTIONS_SELECT, FILTER_PID, "pid", "PID,...", "samples of these processes" },                     \
	{ OPTIONS_SELECT, FILTER_TID, "tid", "TID|main,...", "samples of these threads" },                  \
	{ OPTIONS_SELECT, FILTER_COMM, "comm", "NAME", "threads of this command, also like shop*" },     \
	{ OPTIONS_SELECT, FILTER_IN, "in", "CONTAINER|CGROUP", "samples of this container or control group" }, \
	{ OPTIONS_SELECT, FILTER_UID, "uid", "UID|NAME", "samples of this user of the recorded host" },      \
	{ OPTIONS_SELECT, FILTER_LABEL, "label", "KEY=VALUE", "samples recorded with this label" },         \
	{ OPTIONS_SELECT, FILTER_MATCH, "match", "RE", "stacks with a frame that matches RE" },             \
	{ OPTIONS_SELECT, FILTER_FOCUS, "focus", "RE", "stacks with a frame that matches this, too" },      \
	{ OPTIONS_SELECT, FILTER_EXCLUDE, "exclude", "RE", "stacks without a frame that matches RE" },      \
	{ OPTIONS_SELECT, FILTER_FROM, "from", "TIME", "samples from this time on: 12s, 14:03:20, -1h" }, \
	{ OPTIONS_SELECT, FILTER_TO, "to", "TIME", "samples before this time" },                            \
	{ OPTIONS_SELECT, FILTER_WEIGHT, "weight", weights, weight }, \
	{ OPTIONS_SELECT, FILTER_EVENT, "event", "NAME,...", "samples of these events, as page-faults, off-cpu" }, \
	{ OPTIONS_SELECT, FILTER_WALL, "wall", NULL, "CPU time and waits: the elapsed time" },              \
	{ OPTIONS_FRAMES, 'i', "inlined", NULL, "inlined calls as frames (named by cprof-sym -i)" },        \
	{ OPTIONS_FRAMES, 'l', "lines", NULL, "source lines after names (named by cprof-sym -l)" },         \
	{ OPTIONS_FRAMES, FILTER_FULL_PATHS, "full-paths", NULL, "source lines with whole paths" },         \
	{ OPTIONS_FRAMES, FILTER_NATIVE, "native", "all|lib|none", "machine frames shown in stacks of scripts (lib)" }, \
	{ OPTIONS_SHAPE, FILTER_NORM, "norm", NULL, "remove generated numbers from names" },                \
	{ OPTIONS_SHAPE, FILTER_BASE, "base", "RE", "begin stacks at the outermost match" },                \
	{ OPTIONS_SHAPE, FILTER_COLLAPSE, "collapse-recursion", NULL, "merge runs of equal frames" },       \
	{ OPTIONS_SHAPE, FILTER_MIN, "min", "PERCENT", "merge frames below this share into [other]" }
#define FILTER_ROWS FILTER_ROWS_BY("samples|ns", "sum samples, or the time that they stand for")
/* For a command that sets has_latency. */
#define FILTER_ROWS_LATENCY                                                                                 \
	FILTER_ROWS_BY("samples|ns|latency|latency=container",                                              \
		       "sum samples, their time, or that / running threads"),                               \
	{ OPTIONS_SELECT, FILTER_LATENCY, "latency", NULL, "short for --weight latency" }
#define FILTER_NAMES_ROW \
	{ OPTIONS_FRAMES, FILTER_NO_NAMES, "no-names", NULL, "leave a capture without names as it is" }
/* The values of --by, for the commands that have it. */
#define FILTER_BY_COMMON "function|module|language|line|file|syscall|process|thread|comm|cpu|container|user|"
#define FILTER_BY_VALUES FILTER_BY_COMMON "waker|culprit|lock|label.KEY[,...]"
#define FILTER_BY_COMPARED FILTER_BY_COMMON "label.KEY[,...]"

/* How to read folded text with two counts a line, as cprof-diff --folded and difffolded.pl write it. */
enum columns {
	COLUMNS_ONE,     /* refuse it */
	COLUMNS_GUESSED, /* if the first lines have two counts, becomes COLUMNS_TWO */
	COLUMNS_TWO,     /* the first count is for the operand's side, the second one for the other side */
};

struct capture;
struct operand_watch;
struct operand_taker;
struct symbol_files;

/* Operands whose names were looked up, or are missing; see naming_report. */
struct naming_notes {
	bool naming;             /* the operand that is being read is read through cprof-sym */
	struct intern named;     /* operands that were */
	struct intern unnamed;   /* operands without names */
	struct intern missing;   /* "/usr/bin/app (build-id-mismatch)" */
};

/* All zero to begin with. Release with filters_release. Option arguments are referenced, not copied. */
struct filters {
	const struct operand_watch *watch; /* NULL: none */
	const struct operand_taker *also;  /* gets the records that operand_load reads, too; NULL: none */
	struct view view; /* for gather.h; a command sets some members itself */
	uint64_t *pids, *tids;
	const char **comms, **events;
	char *event_text; /* the strings of events point into it */
	char *key_text;   /* the keys of the view point into it */
	/* Set before filters_check: labels are rows of all columns (projection.h); functions have modules. */
	bool joined, tells_modules;
	bool weighed;     /* --weight was given */
	const char *from_option, *to_option; /* that set the window's ends; NULL: --from and --to */
	bool has_latency; /* set before filters_check: the command knows --weight latency */
	bool cpu_beside;  /* with it, CPU time goes to side 1 of the profile */
	/* Name a capture without names while it is read; warn if it remains without them. */
	bool names, hints;
	const struct symbol_files *files; /* options of cprof-sym for that; NULL: none */
	struct naming_notes notes;
	/* For operands_report, if an option needs waiting time: a capture has it; operands without it. */
	bool waited;
	struct intern unwaited;
	const char **groups, **users, **labels;
	size_t cap_pids, cap_tids, cap_comms, cap_groups, cap_users, cap_labels, cap_events;
	struct transform shape; /* transformations of the profile; points to the expressions */
	regex_t expressions[FILTER_EXPRESSIONS];
	const char *expression_texts[FILTER_EXPRESSIONS];
	enum columns columns;
	/*
	 * For cprof-fold, if text needs no tree or the tree has no memory left: passed to struct
	 * folded_reader, see folded.h.
	 */
	struct stack_sums *lines;
	bool (*full)(struct profile *p, void *context);
	size_t budget;
	void *context;
	struct gather_modules modules; /* in use if view.modules points to it */
	/* Events defined by the captures, for filters_warn_none. */
	struct intern event_names;
	struct intern counted_names; /* the events that were counted, for filters_events */
	struct present present; /* names that there are, for filters_warn_none */
	struct buf none;        /* likewise, what filters_shape knows */
	struct buf chosen; /* the first event of --event; the others must have its unit */
	const char *chosen_unit;
	struct mixed_events alike; /* without --event: the events summed so far */
	struct time_range range;   /* likewise */
	struct recordings recordings; /* those of the operands, which the view refers to */
	/* Samples of the events that the view counts, and those among them that it selected. */
	uint64_t samples, passed;
	uint64_t waits; /* samples of waiting time, wanted or not */
	const char *for_captures; /* an option that was given and has no effect on folded text; NULL: none */
};

/* Handles one option. Returns false if the option is not a filter. An invalid argument is a usage error. */
bool filters_option(struct filters *f, int option, const char *argument);
/* Parses seconds with up to nine decimal places. Returns nanoseconds; an invalid number is a usage error. */
uint64_t filters_seconds(const char *option, const char *text);
/*
 * Reports contradictory options as a usage error. Call it after the last option; *f must not move afterwards.
 */
void filters_check(struct filters *f);
void filters_release(struct filters *f);
/* Asks for a replay of waits (common/blame/what_if.h), by an option of the command's own. */
void filters_replay(struct filters *f, struct what_if *w);
/* Returns the option that asked for another division of waiting time (view.blame), or NULL. */
const char *filters_blame(const struct filters *f);
/*
 * Appends the names of the summed events, "page-faults, sched:sched_switch", if --event was given or counted
 * events are summed; otherwise nothing.
 */
void filters_events(const struct filters *f, struct buf *out);

/*
 * Warns "no samples selected, WHAT" after reading all operands. If there were samples but none passed, the
 * warning says so and lists what there is: events, commands, functions and so on, and the nearest name.
 */
void filters_warn_none(struct filters *f, const char *what);
/* Appends the recorded time, "; recorded: 0 to 60.2 s", or of the clock if the window is by the clock. */
void filters_append_range(struct filters *f, struct buf *out);
/* Appends the second part of that warning, which begins with "; ", or nothing. */
void filters_append_there(struct filters *f, struct buf *out);

/*
 * If an option needs waiting time: notes at the end of a capture whether it has samples and such time. After
 * the last operand, exits with STATUS_USAGE if none had any; otherwise warns of those without.
 */
void filters_note_waits(struct filters *f, const char *name, const struct capture *c);
void filters_report_waits(struct filters *f);

/*
 * Exits with STATUS_USAGE if counts of different things were added up because each segment chose its default
 * event. Call it before showing the sum. name: the operand being read.
 */
void filters_check_alike(struct filters *f, const char *name);

/*
 * For tables: keep files with the same base name apart, which is decided after all operands have been read.
 * sides: 2 to compare them, otherwise 1; stack_max: see gather_modules_settle.
 */
void filters_keep_apart(struct filters *f);
void filters_settle(struct filters *f, struct profile *p, unsigned int sides, size_t stack_max);
/*
 * Applies --match, --focus, --exclude, --base, --norm and the other transformations to the profile, see
 * transform.h. Call it after all operands have been read and settled. It renumbers the nodes.
 */
void filters_shape(struct filters *f, struct profile *p);

#endif
