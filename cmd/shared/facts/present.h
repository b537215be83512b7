/*
 * The names that captures have, for a selection that matches none of them.
 *
 *	struct present p = { .on = true };	// all zero otherwise
 *
 *	present_record(&p, &view, &capture, &record);	// each record, before the capture applies it
 *	present_end(&p, &capture);			// at the end of each capture
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
	PRESENT_USERS,
	PRESENT_LABELS,
	PRESENT_KINDS
};

struct present_name {
	uint64_t weight;
	uint32_t comm; /* its last command, as a number in comms */
	bool named;    /* comm is set */
};

struct present_list {
	struct intern names;	    /* those of control groups are paths */
	struct present_name *items; /* by number in names */
	size_t cap;
};

/* The weight of a thread in the segment. */
struct present_thread {
	uint64_t weight;
	uint64_t fresh; /* not yet added to the names that the thread may lose */
};

/* All zero to begin with. */
struct present {
	bool on;
	struct present_list lists[PRESENT_KINDS];
	struct intern comms;
	struct present_thread *threads; /* by id */
	size_t n_threads, cap_threads;
	uint32_t *fresh; /* threads that may have fresh weight */
	size_t n_fresh, cap_fresh;
	uint64_t base; /* time 0 of the segment, see recordings_base */
	bool based;
};

/*
 * Notes the names of a sample's thread with the weight that the view counts, even if the view asks for other
 * threads. Does nothing unless on is set.
 */
void present_record(struct present *p, const struct view *v, const struct capture *c, const struct record *r);
void present_end(struct present *p, const struct capture *c);
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
