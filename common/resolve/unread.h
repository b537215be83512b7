/*
 * Files whose debug sections could not be read, each once.
 *
 *	struct unread u = { 0 };
 *
 *	unread_add(&u, path, &(struct lines_unread){ 2, LINES_FAULT_DAMAGED });
 *	for (size_t i = 0; i < unread_count(&u); i++)
 *		...unread_get(&u, i, &path)->n...
 *	unread_release(&u);
 */
#ifndef CPROF_RESOLVE_UNREAD_H
#define CPROF_RESOLVE_UNREAD_H

#include "common/base/hash.h"
#include "common/dwarf/lines.h"

struct unread {
	struct intern paths;
	struct lines_unread *items; /* by path */
	size_t cap;
};

/* Nothing happens if add counts none, or the path is known. False without memory. */
bool unread_add(struct unread *u, struct slice path, const struct lines_unread *add);
size_t unread_count(const struct unread *u);
/* The path is lent until the next unread_add. */
const struct lines_unread *unread_get(const struct unread *u, size_t i, struct slice *path);
void unread_release(struct unread *u);

#endif
