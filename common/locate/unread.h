/*
 * Files that exist but could not be read, or not fully; each once.
 *
 *	struct unread u = { 0 };
 *
 *	unread_add(&u, path, 2, "damaged");
 *	for (size_t i = 0; i < unread_count(&u); i++)
 *		...unread_get(&u, i)->why...
 *	unread_release(&u);
 */
#ifndef CPROF_LOCATE_UNREAD_H
#define CPROF_LOCATE_UNREAD_H

#include "common/base/intern.h"

struct unread_file {
	struct slice path;
	size_t sections; /* debug sections that could not be read; 0: the whole file, unless units is set */
	size_t units;    /* units of DWARF of which something was left out */
	const char *why;
};

struct unread {
	struct intern paths;
	struct unread_file *items;
	size_t cap;
};

/* Does nothing if the path is known. why must outlive u. Returns false if out of memory. */
bool unread_add(struct unread *u, struct slice path, size_t sections, const char *why);
/*
 * Notes that n units of DWARF were read in part. Replaces the number noted before. Returns false if out of
 * memory.
 */
bool unread_units(struct unread *u, struct slice path, size_t n, const char *why);
size_t unread_count(const struct unread *u);
const struct unread_file *unread_get(const struct unread *u, size_t i);
void unread_release(struct unread *u);

#endif
