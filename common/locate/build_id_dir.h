/*
 * A directory of files by build ID, as gdb, perf and debuginfod read it: DIR/.build-id/ab/cdef….debug.
 *
 *	struct build_id_dir s;
 *	struct build_id_dir_file t;
 *
 *	if (!build_id_dir_open(&s, dir)) ...errno...
 *	fd = build_id_dir_look(&s, id);		// the file there now
 *	build_id_dir_begin(&s, &t);
 *	...write to t.fd...
 *	if (build_id_dir_put(&s, &t, id, is_better, arg) == BUILD_ID_DIR_PUT) ...
 *	build_id_dir_release(&s);
 *
 * Several processes may use one directory at once, also from several hosts: a file gets its name when all of
 * it is on disk. Until then it is in DIR/.tmp, where a killed process leaves it; files there that are older
 * than a day are removed when the directory is next opened. DIR/.tmp/lock is locked while a file is compared
 * with the one that is there. Nothing is written outside of the directory: names
 * are hexadecimal digits, and the folders are not symbolic links.
 */
#ifndef CPROF_LOCATE_BUILD_ID_DIR_H
#define CPROF_LOCATE_BUILD_ID_DIR_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"

enum { BUILD_ID_DIR_ID_LEAST = 8, BUILD_ID_DIR_ID_MOST = 124 }; /* bytes; more would not fit into a file name */

struct build_id_dir {
	int root, ids, tmp; /* descriptors of DIR, DIR/.build-id, DIR/.tmp; -1: absent, or not needed yet */
	int lock;                /* descriptor of DIR/.tmp/lock; -1: not available, or not needed yet */
	unsigned int lock_tries; /* failed so far */
	unsigned int count; /* temporary files so far */
};

struct build_id_dir_file {
	int fd;
	char name[64]; /* in .tmp */
};

enum build_id_dir_put {
	BUILD_ID_DIR_PUT = 0,
	BUILD_ID_DIR_KEPT = 1, /* another one came first and is no worse */
	BUILD_ID_DIR_FAILED = 2, /* errno */
};

/*
 * Creates the directory if necessary, but not those above it, and those in it only when needed. Returns false
 * and sets errno on failure.
 */
bool build_id_dir_open(struct build_id_dir *s, const char *dir);
void build_id_dir_release(struct build_id_dir *s);
/* Appends the name below the directory: ".build-id/ab/cdef.debug". */
void build_id_dir_name(struct buf *name, struct slice id);
/* Returns a descriptor of the existing file, or -1; *absent: there is none, or none that can be an archived file. */
int build_id_dir_look(const struct build_id_dir *s, struct slice id, bool *absent);
/* Creates a file to write to. Returns false and sets errno on failure. */
bool build_id_dir_begin(struct build_id_dir *s, struct build_id_dir_file *t);
/*
 * Gives the file its name, unless there is a file by now that keep says is to stay; keep gets a descriptor of
 * that file and must close it. The new file is closed in any case, and removed unless the result is
 * BUILD_ID_DIR_PUT.
 */
enum build_id_dir_put build_id_dir_put(struct build_id_dir *s, struct build_id_dir_file *t, struct slice id, bool (*keep)(void *arg, int fd),
			 void *arg);
/* Closes and removes a new file; keeps errno. */
void build_id_dir_drop(struct build_id_dir *s, struct build_id_dir_file *t);

#endif
