/*
 * The names that captures have, for a selection that matches none of them.
 *
 *	struct present p = { .on = true };	// all zero otherwise
 *
 *	present_record(&p, &record);		// each record of each capture, in order
 *	...
 *	present_append(&p, &view, &text);	// "; recorded commands: firefox (61 %), ..."
 *	present_release(&p);
 *
 * The functions exit if out of memory.
 */
#ifndef CPROF_CMD_PRESENT_H
#define CPROF_CMD_PRESENT_H

#include <regex.h>

#include "common/base/intern.h"
#include "common/profile/profile.h"
#include "common/select/view.h"

enum present_kind {
	PRESENT_COMMS,
	PRESENT_PIDS,
	PRESENT_TIDS,
	PRESENT_GROUPS,
	PRESENT_LABELS,
	PRESENT_KINDS
};

struct present_name {
	uint64_t samples;
	uint32_t comm; /* its first command, as a number in texts */
};

struct present_list {
	struct intern names;	    /* those of control groups are paths */
	struct present_name *items; /* by number in names */
	size_t cap;
};

struct present_thread {
	uint64_t process, tid;
	uint32_t comm;
	uint64_t samples; /* not yet added to the lists */
};

struct present_process {
	uint64_t pid;
	uint32_t group; /* 0: unknown */
};

/* All zero to begin with. */
struct present {
	bool on;
	struct present_list lists[PRESENT_KINDS];
	struct intern texts; /* texts of the records; the first is empty */
	/* Those of the segment, by the number in the records. */
	struct present_thread *threads;
	struct present_process *processes;
	size_t n_threads, n_processes, cap_threads, cap_processes;
	struct idmap groups;
};

/* Notes a record. Does nothing unless on is set. */
void present_record(struct present *p, const struct record *r);
/*
 * For each filter of the view by command, process, thread, container or label that no capture has a match
 * for, appends the commonest names that there are, and the nearest.
 */
void present_append(struct present *p, const struct view *v, struct buf *out);
void present_release(struct present *p);
/* Returns the name that text was most likely meant to be, valid as long as the names, or NULL. */
const char *present_guess(const struct intern *names, const char *text);

/* A regular expression that functions and commands are selected by. */
struct present_asked {
	const char *option, *text;
	const regex_t *expression; /* NULL: not given */
};

/* Returns each label's own weight in the profile, by number; the caller frees it. */
uint64_t *present_weights(const struct profile *p);
/*
 * If the expression matches no label with weight, appends that, the heaviest labels and the nearest. The
 * profile may have lost its stacks since present_weights, but has the same labels.
 */
void present_functions(const struct profile *p, const uint64_t *weights, const struct present_asked *a,
		       struct buf *out);

#endif
