/*
 * One file after the other, complete before it has its name.
 *
 *	struct files f = { .keep_bytes = 10ull << 30, .mode = 0600 };
 *
 *	if (!files_init(&f, "/var/lib/cprof/%h-%F-%H%M%S.cprof", &error)) ...
 *	files_adopt(&f, tell, NULL);	// what a recorder left that was killed
 *	fd = files_open(&f);		// "/var/lib/cprof/.web1-….cprof.part", or -1: errno
 *	while (files_reserve(&f)) 	// there is room for what comes next, and for the end
 *		...write to fd...
 *	if (files_close(&f, bytes, &path)) ...it is called path now...
 *	files_release(&f);
 *
 * The file that is being written has a name that begins with "." and ends in ".part", and a lock (flock). One without
 * a lock belongs to a recorder that was killed: it is cut but good, and gets its name. Names that are taken get a number.
 *
 * Files are removed, the oldest first: those beyond keep_bytes or keep_ns, and where the disk is full, whatever
 * those say. Only files are, of which the name fits the pattern, with or without a suffix of a compressor, and that
 * begin as a capture does unless they are compressed.
 */
#ifndef CPROF_RECORD_FILES_H
#define CPROF_RECORD_FILES_H

#include <sys/types.h>

#include "cmd/cprof-record/pattern.h"

/* Bytes beyond what is written that the disk is asked to have; of a small one a sixteenth. */
enum { FILES_RESERVE = 1 << 20 };

struct files {
	uint64_t keep_bytes, keep_ns; /* 0: no limit */
	mode_t mode;          /* of each file */
	struct pattern pattern;
	int dir, fd;          /* -1: none */
	struct buf part;      /* the name that the open file has, in dir */
	uint64_t clock;       /* CLOCK_REALTIME less CLOCK_MONOTONIC when we began */
	bool unnamed;         /* a file is complete and could not be given its name: files_adopt may */
	uint64_t removed;     /* files that were removed */
	uint64_t ahead;       /* bytes that may come until it is asked again whether there is room */
};

/*
 * Creates a file that does not exist yet. Under sudo it belongs to the user who called sudo, who is to read it afterwards.
 * Returns the descriptor, or -1 with errno, EEXIST among others.
 */
int files_create(int dir, const char *name, int flags, mode_t mode);
bool files_init(struct files *f, const char *pattern, struct buf *error);
void files_release(struct files *f);
/* Gives their names to files of recorders that are no more, and tells each; how many. */
size_t files_adopt(struct files *f, void (*tell)(void *context, const char *path), void *context);
/* The next file; -1: errno. It is empty, and reserved. */
int files_open(struct files *f);
/*
 * True where the disk has those bytes more than have been written; removes the oldest files until it does, and until it
 * has what may come. False: no file is left to be removed, and what was reserved before is all there is.
 */
bool files_reserve(struct files *f);
/* So many bytes came since it was asked last; full: and more, for which there was no room. */
void files_wrote(struct files *f, uint64_t bytes, bool full);
/* Cuts the open file to so many bytes, closes it, and gives it its name, which path gets; one of no bytes is removed. */
bool files_close(struct files *f, uint64_t bytes, struct buf *path);
/* Removes what is beyond the limits; the newest stays in any case. */
void files_keep(struct files *f);

#endif
