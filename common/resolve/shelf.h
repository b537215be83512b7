/*
 * A directory of files by build ID, as gdb, perf and debuginfod read it: DIR/.build-id/ab/cdef….debug.
 *
 *	struct shelf s;
 *	struct shelf_file *t;
 *
 *	if (!shelf_open(&s, dir)) ...errno...
 *	f = shelf_look(&s, id);			// what is there
 *	t = shelf_begin(&s);
 *	...write to t->fd...
 *	if (shelf_put(&s, t, id, is_better, arg) == SHELF_PUT) ...
 *	shelf_release(&s);
 *
 * Many may work on one directory at once, also on several hosts: a file gets its name when all of it is on the
 * disk. Until then it is in DIR/.tmp, where a process that was killed leaves it; what is older than a day
 * there is removed by whoever opens the shelf next. Nothing is written outside of the directory: the
 * names are hexadecimal digits, and the folders are no symbolic links.
 */
#ifndef CPROF_RESOLVE_SHELF_H
#define CPROF_RESOLVE_SHELF_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"

enum { SHELF_ID_LEAST = 8, SHELF_ID_MOST = 124 }; /* bytes; more would not fit into a file's name */

struct shelf {
	int root, ids, tmp; /* descriptors of DIR, DIR/.build-id, DIR/.tmp; -1: not there, or not needed yet */
	unsigned int count; /* of temporary files */
};

struct shelf_file {
	int fd;
	char name[64]; /* in .tmp */
};

enum shelf_put {
	SHELF_PUT = 0,
	SHELF_KEPT = 1, /* another one came first and is no worse */
	SHELF_FAILED = 2, /* errno */
};

/* Makes the directory if there is none, but neither those above it nor, yet, what is in it. False: errno. */
bool shelf_open(struct shelf *s, const char *dir);
void shelf_release(struct shelf *s);
/* The name below the directory: ".build-id/ab/cdef.debug". */
void shelf_name(struct buf *name, struct slice id);
/* The descriptor of what is there, or -1. */
int shelf_look(const struct shelf *s, struct slice id);
/* A new file to be written. False: errno. */
bool shelf_begin(struct shelf *s, struct shelf_file *t);
/*
 * Gives it its name, unless there is a file by now that keep says is to stay; it gets a descriptor that it is to close.
 * The new file is closed, whatever comes of it, and gone if it is not put.
 */
enum shelf_put shelf_put(struct shelf *s, struct shelf_file *t, struct slice id, bool (*keep)(void *arg, int fd),
			 void *arg);
void shelf_drop(struct shelf *s, struct shelf_file *t);

#endif
