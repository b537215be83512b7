/*
 * Names for a series of files: a path pattern with the time and the host.
 *
 *	"/var/lib/cprof/%h-%Y%m%dT%H%M%SZ.cprof"
 *
 * %h is the host's name. All other conversions are those of strftime(3), in UTC, and only the last part of
 * the path may contain them; the directories before it may only contain %h. A path without a time conversion
 * gets ".%Y%m%dT%H%M%SZ" appended. For a directory, the name in it is "%h-%Y%m%dT%H%M%SZ.cprof".
 */
#ifndef CPROF_RECORD_OUTPUT_FILE_NAME_H
#define CPROF_RECORD_OUTPUT_FILE_NAME_H

#include <time.h>

#include "common/base/buf.h"

struct file_name {
	char *dir;  /* "." or a path, %h expanded */
	char *base; /* a pattern for strftime, %h expanded */
	char *glob; /* a pattern for fnmatch that matches every name base can become */
	size_t end; /* length of base's suffix, as of ".cprof"; 0: it has none */
};

/* A path leads to a regular file or nothing, to a directory, or to anything else, which is refused. */
enum file_name_at { FILE_NAME_AT_FILE, FILE_NAME_AT_DIRECTORY, FILE_NAME_AT_OTHER };

/* Looks a path up, for which its file system may have to answer. */
enum file_name_at file_name_look(const char *path);
/* Returns false on failure; error is then a sentence, or empty if out of memory. */
bool file_name_init(struct file_name *p, const char *path, enum file_name_at at, struct buf *error);
/* Sets name to the name in the directory for a time. Returns false if there is none, or if out of memory. */
bool file_name_name(const struct file_name *p, time_t when, struct buf *name);
/* Appends the name; if i is not 0, with a number before the suffix: "a.cprof" becomes "an0001.cprof". */
void file_name_number(const struct file_name *p, struct slice name, unsigned int i, struct buf *to);
void file_name_release(struct file_name *p);

#endif
