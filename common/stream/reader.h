/*
 * Reads a stream from a pipe or a file.
 *
 *	struct reader *r = reader_new(STDIN_FILENO, "standard input");
 *	struct record rec;
 *	int got;
 *
 *	while ((got = reader_next(r, &rec)) > 0)
 *		...
 *	if (got < 0)			// failed: reader_error(r); status 3 if reader_refused(r), else 1
 *	if (reader_damage(r))		// bytes were left out, or the capture was cut short: status 3
 *	reader_free(r);
 *
 * Reading goes on after damage: bytes up to the next good block are left out, a DAMAGE record is delivered in
 * their place, and the first damage is kept as a sentence that names block and byte. A segment without an END
 * was cut short. FLUSH is delivered after each block. The input buffer holds two blocks of BLOCK_MAX
 * bytes. See cprof-stream(5), "Damage and the next good block".
 */
#ifndef CPROF_STREAM_READER_H
#define CPROF_STREAM_READER_H

#include "common/stream/record.h"

struct reader;

/* Returns NULL if out of memory. name is for messages and is copied; the caller keeps the descriptor. */
struct reader *reader_new(int fd, const char *name);
/*
 * Puts back bytes that the caller already read from the descriptor, to detect the file type. At most
 * BLOCK_MAX bytes; they are copied. Call it before the first reader_next.
 */
void reader_unread(struct reader *r, struct slice taken);
void reader_free(struct reader *r);
struct segment_extent;
/*
 * Skips unwanted segments as if they were not in the input. wanted is called before a segment is read, with
 * its extent. It is not called if the input is not a regular file, or if the extent cannot be found without
 * reading the segment (see segment_extent.h); such segments are read. Skipped segments are not checked for
 * damage. Call it after reader_unread and before the first reader_next. The choice must outlive the reader.
 */
struct reader_choice {
	const void *context;
	bool (*wanted)(const void *context, const struct segment_extent *x);
};
void reader_choose(struct reader *r, const struct reader_choice *choice);
/*
 * Returns 1 for a record, 0 at the end, -1 if the system failed or the input is refused (another file type, a
 * newer major version): see reader_error. Slices in the record are valid until the next call.
 */
int reader_next(struct reader *r, struct record *rec);
/*
 * Returns the run (batch.h) from which the last records were decoded, for filters that pass it on unchanged.
 * Call it after a record with last set, and after a record outside any run, because damage may have ended a
 * run early. Returns true once for each run; its bytes are valid until the next reader_next.
 */
bool reader_batch(struct reader *r, struct stream_batch *batch);
/* Returns the error as a sentence that lives as long as the reader, or NULL. */
const char *reader_error(const struct reader *r);
/* Returns true if reader_error is about the input (status 3), not about the system (status 1). */
bool reader_refused(const struct reader *r);
/*
 * Returns the number of bytes hashed to check blocks: at most three for each byte of the input, and 16 MiB.
 * Blocks beyond that limit are left out as damaged.
 */
uint64_t reader_hashed(const struct reader *r);
/* Returns the first damage as a sentence that lives as long as the reader, or NULL. */
const char *reader_damage(const struct reader *r);
/* Reports a record of the current block that makes no sense to the caller. Counts as damage. */
void reader_complain(struct reader *r, const char *what);
/* Returns true if the next reader_next cannot block. For live readers. */
bool reader_ready(const struct reader *r);

#endif
