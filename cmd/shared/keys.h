/*
 * --by: the keys that rows or outermost frames are by, and how stacks are shown by them.
 *
 *	keys_parse(&filters, "thread,function");
 *	keys_check(&filters);			// after the last option
 *	keys_things(&filters.view)		// "rows"
 */
#ifndef CPROF_CMD_KEYS_H
#define CPROF_CMD_KEYS_H

#include "cmd/shared/filters.h"

/* Parses the argument of --by. An invalid one is a usage error. */
void keys_parse(struct filters *f, const char *argument);
/*
 * Takes the key culprit out of the view and returns true if it is there. The other keys then are those of the
 * threads that had the CPU; without other keys, these threads.
 */
bool keys_take_culprit(struct view *v);
/* Sets the view and the projection of the shape for the keys and the other options. */
void keys_check(struct filters *f);
/*
 * Leaves out the modules of functions that are no column. Call it before the profile is transformed, if some
 * stacks have no modules.
 */
void keys_forget_modules(struct filters *f);
/* Returns the number of columns that the keys take in a table, at least 1. */
size_t keys_columns(const struct view *v);
/* Returns the name of a column, "thread" or "label.zone". */
const char *keys_name(const struct view *v, size_t column);
/* Returns the things that rows stand for: "functions", "threads"; "rows" if there are several keys. */
const char *keys_things(const struct view *v);
/* Returns the first key that folded text cannot answer, or NULL. */
const char *keys_need_capture(const struct view *v);

/*
 * For a view whose keys change while it is shown: makes the view v gather all that the usual keys need,
 * beside its own. keys_choose then shows the stacks by some of them.
 */
void keys_gather_all(struct view *v);
/*
 * Makes *shown and *by for stacks gathered by keys_gather_all's view: by these keys, of which there are n;
 * 0: by function. Every key must be a usual one or one of the view's. modules: functions have modules.
 */
void keys_choose(const struct view *gathered, const struct view_key *keys, size_t n, bool modules,
		 struct view *shown, struct projection *by);
/* Returns the number of the outermost frame that the key has in these stacks; -1: it names frames. */
int keys_root(const struct view *gathered, const struct view_key *key);

#endif
