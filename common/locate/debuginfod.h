/*
 * Fetches files by build ID from debuginfod servers, using libdebuginfod if it is installed. The library is
 * loaded at the first use; nothing links with it.
 *
 *	struct buf error = { 0 };
 *	struct debuginfod *d = debuginfod_new(&error);	// NULL: error says why
 *
 *	fd = debuginfod_find(d, DEBUGINFOD_DEBUG, build_id, &path);
 *	debuginfod_free(d);
 *
 * The servers are those of $DEBUGINFOD_URLS, and libdebuginfod's cache keeps the files. A file that the
 * servers do not have is requested only once. After a server was silent for $DEBUGINFOD_TIMEOUT seconds (20
 * if unset), or after three failures in a row, no more requests are made.
 */
#ifndef CPROF_LOCATE_DEBUGINFOD_H
#define CPROF_LOCATE_DEBUGINFOD_H

#include "common/base/buf.h"

enum debuginfod_what { DEBUGINFOD_DEBUG = 0, DEBUGINFOD_EXECUTABLE = 1 };

struct debuginfod_counts {
	uint64_t asked, found, failed; /* failed: without an answer */
	bool given_up;                 /* no more requests are made */
	const char *error;             /* the first failure, lent */
};

struct debuginfod;

/* Returns true if $DEBUGINFOD_URLS names a server. */
bool debuginfod_configured(void);
/* Loads the library. Returns NULL, and the reason in error, if it is not available. */
struct debuginfod *debuginfod_new(struct buf *error);
void debuginfod_free(struct debuginfod *d);
/* Returns a descriptor of the file, and its path in the cache; or -1 if it is not available. */
int debuginfod_find(struct debuginfod *d, enum debuginfod_what what, struct slice build_id, struct buf *path);
/* Returns the counts since debuginfod_new. */
struct debuginfod_counts debuginfod_counts(const struct debuginfod *d);

#endif
