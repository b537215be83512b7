/*
 * Files by build ID from debuginfod servers, by libdebuginfod where it is installed: it is loaded when
 * it is asked for, and nothing is linked with it.
 *
 *	struct buf error = { 0 };
 *	struct debuginfod *d = debuginfod_new(&error);	// NULL: error says why
 *
 *	fd = debuginfod_find(d, DEBUGINFOD_DEBUG, build_id, &path);
 *	debuginfod_free(d);
 *
 * The servers are those of $DEBUGINFOD_URLS; what they give is kept in libdebuginfod's cache. What they do
 * not have is asked once. A server that is silent for $DEBUGINFOD_TIMEOUT seconds (20 where that is not
 * set) is not asked again, nor is one that cannot be reached a few times.
 */
#ifndef CPROF_RESOLVE_DEBUGINFOD_H
#define CPROF_RESOLVE_DEBUGINFOD_H

#include "common/base/buf.h"

enum debuginfod_what { DEBUGINFOD_DEBUG = 0, DEBUGINFOD_EXECUTABLE = 1 };

struct debuginfod_counts {
	uint64_t asked, found, failed; /* failed: there was no answer */
	bool given_up;                 /* the rest was not asked for */
	const char *error;             /* of the first failure; lent */
};

struct debuginfod;

/* True: $DEBUGINFOD_URLS names a server. */
bool debuginfod_configured(void);
struct debuginfod *debuginfod_new(struct buf *error);
void debuginfod_free(struct debuginfod *d);
/* A descriptor of the file, and its path in the cache; or -1. */
int debuginfod_find(struct debuginfod *d, enum debuginfod_what what, struct slice build_id, struct buf *path);
struct debuginfod_counts debuginfod_counts(const struct debuginfod *d);

#endif
