/*
 * Stacks shown by keys: what a sample belongs to, as outermost frames or columns, and parts of frames' names.
 *
 *	struct projection j = { .asked = true, .roots = 1, .n_columns = 2,
 *				.columns = { { COLUMN_ROOT, 0 }, { COLUMN_PART, 0 } } };
 *
 *	if (!projection_apply(&j, &from, &to, map, false)) ...out of memory...
 *
 * Each stack begins with the given number of roots, for example thread and container; then come the command
 * and the frames of the real stack. A label may have several parts (gather_names.h): "main", tab, "cc1".
 * Expressions look only at the command and at the first part of frames (transform.h).
 *
 * Two forms of the result:
 *
 *	frames	roots first, then frames with the parts asked for: "make-42/43;main [cc1]". The command is left
 *		out if there is another root.
 *	joined	every frame has a label of all columns, separated by tabs, "make-42/43", tab, "main": the rows
 *		of a table. The command stays, because tables skip the outermost frame. Without a column for
 *		frames, a stack is one frame.
 *
 * A system call is named after the kernel's entry function in the stack, wherever it was inlined:
 * __x64_sys_read, __arm64_sys_read, __do_sys_read and ksys_read are all "read".
 */
#ifndef CPROF_PROFILE_PROJECTION_H
#define CPROF_PROFILE_PROJECTION_H

#include "common/profile/profile.h"

enum projection_kind { COLUMN_ROOT, COLUMN_PART, COLUMN_SYSCALL };
enum { PROJECTION_COLUMNS = 10, PROJECTION_PART = '\t' };

struct projection_column {
	enum projection_kind kind;
	unsigned int index; /* number of the root or the part */
};

/* All zero: nothing is projected. */
struct projection {
	bool asked;   /* stacks change; otherwise only roots and parts matter, to transform.h */
	bool joined;
	bool tabs;    /* parts of frames are separated by tabs, not "main [cc1]"; so they are if joined */
	bool cut;     /* stacks no longer begin with the command, see --base */
	size_t stack_max; /* that of the result: labels with parts are longer than those shown */
	size_t roots; /* outermost frames that come from keys */
	struct projection_column columns[PROJECTION_COLUMNS];
	size_t n_columns;
};

/* Returns part number n of a label; empty if it has fewer. */
struct slice projection_part(struct slice label, unsigned int n);
/* Appends the name of the system call that a kernel function serves. Returns false if it is not an entry. */
bool projection_syscall(struct slice function, struct buf *out);

/* Returns how many outermost frames of the result are keys, if it is not joined. */
size_t projection_outermost(const struct projection *j);

/*
 * Sets map[node] for each node with weight to its node in the new tree, which gets no weight yet. Both trees
 * number labels alike. collapse: merge equal neighbours. Returns false if out of memory.
 */
bool projection_apply(const struct projection *j, const struct profile *from, struct profile *to,
		      uint32_t *map, bool collapse);

#endif
