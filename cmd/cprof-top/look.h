/*
 * A live table or call tree and how keys change it: rows or outermost frames by other keys, the order of
 * rows, a search, and steps into rows.
 *
 *	struct look look = { 0 };
 *
 *	look_begin(&look, &filters, &view, &views);	// view gathers all that look needs from now on
 *	...
 *	look_show(&look, &filters.shape, &gathered, &seen, &seen_view, &views);
 *	views_text(&views, &out);			// fills look.rows
 *	...
 *	switch (look_key(&look, &seen, key)) ...
 *	look_release(&look);
 *
 * The functions exit if out of memory.
 */
#ifndef CPROF_TOP_LOOK_H
#define CPROF_TOP_LOOK_H

#include <regex.h>

#include "cmd/cprof-top/views.h"

enum { LOOK_STEPS = 8, LOOK_CHOICES = 7 };

/*
 * A step into a row: only stacks with this outermost frame, functions of this module, or this function's
 * calls. In a tree: only the subtree of this frame.
 */
struct look_step {
	int root; /* number of the outermost frame, or -1 */
	enum view_by by;
	char *name;
	size_t choice, row; /* those of the table with the row */
	char *path;         /* in a tree, see look_tree.h */
};

struct look {
	struct view gathered;
	struct view_key given[VIEW_KEYS]; /* as on the command line: the first choice */
	size_t n_given;
	bool given_modules;
	bool tree;
	size_t choice;
	bool cum, paused;
	bool typing; /* a search */
	struct buf typed;
	bool searches;
	regex_t search;
	struct look_step steps[LOOK_STEPS];
	size_t n_steps;
	bool marks; /* a row is marked */
	size_t row;
	char *marked; /* its name, or path, so that it stays marked where others overtake it */
	struct views_rows_shown rows;
	regex_t calls; /* if the last step is into a function: its name */
};

enum look_change { LOOK_SAME, LOOK_CHANGED, LOOK_QUIT };

/* views: a table or a tree. */
void look_begin(struct look *l, const struct filters *f, struct view *view, const struct views *views);
void look_release(struct look *l);
/*
 * Makes seen, a profile of the gathered stacks as chosen, and its view, and sets the members of views for
 * them. *seen is released first; all of it is valid until the next call.
 */
void look_show(struct look *l, const struct transform *shape, const struct profile *gathered,
	       struct profile *seen, struct view *seen_view, struct views *views);
enum look_change look_key(struct look *l, const struct profile *seen, int key);
/* The same for a view whose rows keys do not change: it is paused, or ended. */
enum look_change look_plain_key(struct look *l, int key);
/* Returns the number of the marked row among those shown, after views_text; -1: none. */
long look_marked(struct look *l, const struct profile *seen);
/* Appends the line of the cursor: the steps, the choices and the keys. changes: keys change the rows. */
void look_status(const struct look *l, bool changes, struct buf *out);

#endif
