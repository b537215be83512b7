/*
 * Writes a stream.
 *
 *	struct writer *w = writer_new(STDOUT_FILENO);
 *
 *	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
 *	writer_put(w, &(struct record){ .type = RECORD_META, .meta = { key, value } });
 *	writer_put(w, &(struct record){ .type = RECORD_FLUSH });
 *	...
 *	if (!writer_finish(w))		// check once, at the end
 *		err = writer_error(w);
 *	writer_free(w);
 *
 * Records are packed into blocks. A block is written to the descriptor at a FLUSH, or once it has
 * WRITER_BLOCK bytes. META and EVENT records directly after a SEGMENT go into its header block. A record that
 * the format cannot hold is refused and left out. After a system error every call is a no-op that returns
 * false. In both cases writer_finish returns false.
 */
#ifndef CPROF_STREAM_WRITER_H
#define CPROF_STREAM_WRITER_H

#include <sys/types.h>

#include "common/stream/record.h"

enum { WRITER_BLOCK = 256 << 10 };

struct writer;

/* Returns NULL if out of memory. The caller keeps the descriptor. */
struct writer *writer_new(int fd);
void writer_free(struct writer *w);
/*
 * Passes blocks to sink(arg, bytes, n, &why) instead of write(2). The sink returns the number of bytes taken,
 * at least one. If it fails, it returns -1 and sets errno, or *why to a sentence that becomes the writer's
 * error.
 */
typedef ssize_t writer_sink(void *arg, const uint8_t *bytes, size_t n, const char **why);
void writer_write_by(struct writer *w, writer_sink *sink, void *arg);
/* Writes one record and copies its slices. Returns false if it is refused or the writer has failed. */
bool writer_put(struct writer *w, const struct record *r);
/*
 * Makes writer_put pass each record to put(arg, w, r), which may change it, leave it out or add others: the
 * records that it puts itself are written. Call it before the first record.
 */
void writer_through(struct writer *w, bool (*put)(void *arg, struct writer *w, const struct record *r), void *arg);
/* A faster writer_put for SYMBOL, because there may be one per frame. */
bool writer_put_symbol(struct writer *w, const struct record_symbol *s);
/* Writes all records of a run as a reader found them, without encoding them again if possible. */
bool writer_put_batch(struct writer *w, const struct stream_batch *b);
/* Ends the block and writes it, like a FLUSH record. */
bool writer_flush(struct writer *w);
/* Flushes. Returns false if anything went wrong since writer_new. */
bool writer_finish(struct writer *w);
/* Returns the first error as a sentence that lives as long as the writer, or NULL. */
const char *writer_error(const struct writer *w);
/* Returns true if writer_error is about a refused record (status 3), not about the system (status 1). */
bool writer_refused(const struct writer *w);
/* Returns true if the disk was full or over quota. */
bool writer_full(const struct writer *w);
/* Returns the bytes written to the descriptor so far. */
uint64_t writer_bytes(const struct writer *w);
/* Returns the bytes written in the current segment, including its header. */
uint64_t writer_segment_bytes(const struct writer *w);

#endif
