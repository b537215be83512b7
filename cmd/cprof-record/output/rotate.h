/*
 * A series of capture files; each gets its name once it is complete.
 *
 *	struct rotate f = { .keep_bytes = 10ull << 30, .mode = 0600 };
 *
 *	rotate_init(&f);
 *	if (!file_name_init(&f.pattern, "/var/lib/cprof/%h-%F-%H%M%S.cprof", at, &error)) ...
 *	f.dir = rotate_open_dir(&f);	// or -1: errno
 *	rotate_adopt(&f, adopted, NULL);	// files that a killed recorder left
 *	fd = rotate_open(&f);		// "/var/lib/cprof/.web1-….cprof.part", or -1: errno
 *	while (rotate_reserve(&f)) 	// there is room for the next write, and for the end
 *		...write to fd...
 *	if (rotate_close(&f, bytes, &path)) ...its name is path now...
 *	rotate_release(&f);
 *
 * The file being written has a name that begins with "." and ends in ".part", and a lock (flock). One without
 * a lock belongs to a recorder that was killed: it is cut but good, and gets its name. A number is added to
 * names that are taken.
 *
 * The oldest files are removed first: those beyond keep_bytes or keep_ns, and others if the disk is full.
 * Their age is the time since their last change, also if the clock was stepped after that.
 * Only files whose name matches the pattern are removed, with or without the suffix of a compressor. An
 * uncompressed file must also begin like a capture.
 */
#ifndef CPROF_RECORD_OUTPUT_ROTATE_H
#define CPROF_RECORD_OUTPUT_ROTATE_H

#include <sys/types.h>

#include "cmd/cprof-record/output/file_name.h"

/* Bytes reserved on the disk beyond the written ones; on a small disk, a sixteenth of it at most. */
enum { ROTATE_RESERVE = 1 << 20, ROTATE_CLOCKS = 64 };

struct rotate {
	uint64_t keep_bytes, keep_ns; /* 0: no limit */
	mode_t mode;          /* permissions for each file */
	struct file_name pattern;
	int dir, fd;          /* -1: none */
	struct buf part;      /* the open file's name in dir */
	uid_t owner;          /* the owner that our files have */
	/* CLOCK_REALTIME less CLOCK_BOOTTIME: at rotate_init, and after each step that was noticed */
	uint64_t clocks[ROTATE_CLOCKS];
	size_t n_clocks;
	bool unnamed;         /* a complete file did not get its name: rotate_adopt may give it */
	uint64_t removed;     /* files that were removed */
	uint64_t ahead;       /* bytes expected before the next rotate_reserve */
	void (*progress)(void *arg); /* called for each file of the directory; NULL: nothing */
	void *progress_arg;
};

/*
 * Creates a file that does not exist yet. Under sudo the file belongs to the user who called sudo, so that
 * this user can read it. Returns the descriptor, or -1 with errno, EEXIST among others.
 */
int rotate_create(int dir, const char *name, int flags, mode_t mode);
/* Call it first; pattern and dir are the caller's to set. */
void rotate_init(struct rotate *f);
/* Opens the directory of the pattern with the user's rights. Returns the descriptor, or -1 with errno. */
int rotate_open_dir(const struct rotate *f);
/*
 * Reopens the directory if its path leads to another one now. Otherwise further files would disappear in a
 * directory that was removed or moved away.
 */
void rotate_follow_dir(struct rotate *f);
/* Returns true if the path leads to the open directory, which the kernel must know without a file system. */
bool rotate_dir_is_same(const struct rotate *f);
void rotate_release(struct rotate *f);
/* Names the files of recorders that no longer run, and reports each path to adopted. Returns their number. */
size_t rotate_adopt(struct rotate *f, void (*adopted)(void *context, const char *path), void *context);
/* Opens the next file, empty, with its first bytes reserved. Returns the descriptor, or -1 with errno. */
int rotate_open(struct rotate *f);
/*
 * Reserves disk space beyond the written bytes: ROTATE_RESERVE, and as much as is expected. Removes the oldest
 * files while that fails. Returns false if no file is left to remove and only the earlier reservation
 * remains; errno is then ENOSPC or EDQUOT.
 */
bool rotate_reserve(struct rotate *f);
/* Reports the bytes written since the last rotate_reserve; full: there was no room for further ones. */
void rotate_wrote(struct rotate *f, uint64_t bytes, bool full);
/*
 * Cuts the open file to this size, closes it and gives it its name, which is appended to path unless path is
 * NULL. A file of 0 bytes is removed. Returns false on failure.
 */
bool rotate_close(struct rotate *f, uint64_t bytes, struct buf *path);
/* Removes files beyond the limits; the newest always stays. */
void rotate_keep(struct rotate *f);

#endif
