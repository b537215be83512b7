/*
 * The names of rows: the columns of their keys, and the module after a function if other modules have one of the
 * same name, "main [cc1]" and "main [as]".
 *
 *	struct view_names names;
 *
 *	view_names_init(&names, &profile, &view, verbose);	// exits if out of memory
 *	view_names_append(&names, label, &out);			// "main [cc1]"
 *	view_names_release(&names);
 */
#ifndef CPROF_TOP_VIEW_NAMES_H
#define CPROF_TOP_VIEW_NAMES_H

#include "common/base/intern.h"
#include "common/profile/profile.h"
#include "common/select/view.h"

struct view_names {
	const struct profile *p;
	bool hidden;  /* labels end in a module that is no column */
	bool all;     /* append every module */
	struct intern shown; /* labels without the hidden module */
	uint32_t *modules;   /* by number in shown: label of a frame of it */
	bool *clashes;       /* by number in shown: several modules have it */
};

void view_names_init(struct view_names *n, const struct profile *p, const struct view *v, bool all);
void view_names_release(struct view_names *n);
/* Returns the text of the label without a hidden module. */
struct slice view_names_shown(const struct view_names *n, uint32_t label);
/* Returns the hidden module of the label, empty if there is none. */
struct slice view_names_module(const struct view_names *n, uint32_t label);
/* Appends the name; columns of keys are separated by two spaces. */
void view_names_append(const struct view_names *n, uint32_t label, struct buf *out);
/* Appends one of the columns; the last one has the module, if needed. */
void view_names_column(const struct view_names *n, uint32_t label, size_t column, size_t columns,
		       struct buf *out);

#endif
