/*
 * Names of files that follow each other: a path with the time and the host in it.
 *
 *	"/var/lib/cprof/%h-%Y%m%dT%H%M%SZ.cprof"
 *
 * %h is the host's name; all other conversions are those of strftime(3), in UTC. They stand in the last part
 * of the path; before it there is only %h. A path without a conversion of time gets ".%Y%m%dT%H%M%SZ" at its end,
 * and a directory "%h-%Y%m%dT%H%M%SZ.cprof" in it.
 */
#ifndef CPROF_RECORD_PATTERN_H
#define CPROF_RECORD_PATTERN_H

#include <time.h>

#include "common/base/buf.h"

struct pattern {
	char *dir;  /* "." or a path, with the host put in */
	char *base; /* strftime's, with the host put in */
	char *glob; /* fnmatch's, for all that base can become */
	size_t end; /* bytes of base's suffix, ".cprof"; 0: it has none */
};

/* False: error is a sentence, or empty without memory. */
bool pattern_init(struct pattern *p, const char *path, struct buf *error);
/* The name in the directory for a time. */
bool pattern_name(const struct pattern *p, time_t when, struct buf *name);
/* Appends a name, and where i is not 0 the number before its suffix: "a.1.cprof". */
void pattern_number(const struct pattern *p, struct slice name, unsigned int i, struct buf *to);
void pattern_release(struct pattern *p);

#endif
