/*
 * Reading a stream, from a pipe or a file.
 *
 *	struct reader *r = reader_new(STDIN_FILENO, "standard input");
 *	struct record rec;
 *	int got;
 *
 *	while ((got = reader_next(r, &rec)) > 0)
 *		...
 *	if (got < 0)			// the system failed: reader_error(r), status 1
 *	if (reader_damage(r))		// bytes were left out, or the capture was cut: status 3
 *	reader_free(r);
 *
 * Damage does not end the reading: what cannot be trusted is left out up to the next good block, a
 * DAMAGE record is delivered in its place, and the first damage is kept as a sentence that names
 * block and byte. A segment without its END is one that was cut. FLUSH is delivered after each block.
 * Memory: one block, at most BLOCK_MAX twice.
 */
#ifndef CPROF_STREAM_READER_H
#define CPROF_STREAM_READER_H

#include "common/stream/record.h"

struct reader;

/* NULL without memory. name is for messages and is copied; the descriptor stays the caller's. */
struct reader *reader_new(int fd, const char *name);
/*
 * Bytes that were read from the descriptor already, to tell what it holds: they come before the rest.
 * To be called before the first reader_next; at most BLOCK_MAX of them.
 */
void reader_unread(struct reader *r, struct slice taken);
void reader_free(struct reader *r);
/*
 * Leaves out segments that are not wanted, as if they were not in the input. wanted is asked before a segment is read, of the
 * time that it tells of; not where the input is no regular file, nor of a segment of which that cannot be told at a glance (see
 * extent.h): these are read. What is left out is not checked for damage.
 * To be called before the first reader_next, behind reader_unread; the choice is lent.
 */
struct extent;
struct reader_choice {
	const void *context;
	bool (*wanted)(const void *context, const struct extent *x);
};
void reader_choose(struct reader *r, const struct reader_choice *choice);
/*
 * 1: a record. 0: the end. -1: the system failed, or this is no stream that we can read (another
 * file type, a newer major version): reader_error(r) says which.
 */
int reader_next(struct reader *r, struct record *rec);
/*
 * The batch that the records delivered last stood in, for who passes them on unchanged: after the one that is the last of
 * it, and after a record that is of no batch, where damage has ended it before its last. Once for each, and
 * lent until the next call of reader_next.
 */
bool reader_batch(struct reader *r, struct stream_batch *batch);
const char *reader_error(const struct reader *r);
/* True where reader_error is about the input (status 3) and not about the system (status 1). */
bool reader_refused(const struct reader *r);
const char *reader_damage(const struct reader *r);
/* The caller found a record of this block that makes no sense: counts as damage, once as a sentence. */
void reader_complain(struct reader *r, const char *what);
/* Is there more in the buffer, so that the next call cannot block? For live readers. */
bool reader_ready(const struct reader *r);

#endif
