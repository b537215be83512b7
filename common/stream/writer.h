/*
 * Writing a stream.
 *
 *	struct writer *w = writer_new(STDOUT_FILENO);
 *
 *	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
 *	writer_put(w, &(struct record){ .type = RECORD_META, .meta = { key, value } });
 *	writer_put(w, &(struct record){ .type = RECORD_FLUSH });
 *	...
 *	if (!writer_finish(w))		// asked once, at the end
 *		err = writer_error(w);
 *	writer_free(w);
 *
 * Records are packed into blocks; a FLUSH ends the block and hands it to the descriptor, and so does
 * a block that has grown to WRITER_BLOCK bytes. META and EVENT that follow a SEGMENT stand in its
 * header block. A record that the wire cannot hold is refused and left out. After a failure of
 * the system every call is a no-op that returns false. Either way writer_finish is false in the end.
 */
#ifndef CPROF_STREAM_WRITER_H
#define CPROF_STREAM_WRITER_H

#include "common/stream/record.h"

enum { WRITER_BLOCK = 256 << 10 };

struct writer;

/* NULL without memory. The descriptor stays the caller's. */
struct writer *writer_new(int fd);
void writer_free(struct writer *w);
/*
 * For a descriptor whose reader may stall: wait(arg, fd) is called before each piece, and returns when fd takes
 * bytes or has an error; or a sentence, which becomes the writer's error. Without effect on a regular file.
 */
void writer_wait_by(struct writer *w, const char *(*wait)(void *arg, int fd), void *arg);
bool writer_put(struct writer *w, const struct record *r);
/*
 * From now on each record that is put goes to put(arg, w, r) in its place, which changes it, leaves it out or puts others:
 * what that puts is written. To be called before the first record.
 */
void writer_through(struct writer *w, bool (*put)(void *arg, struct writer *w, const struct record *r), void *arg);
/* The same as a SYMBOL record, of which there may be one for each frame. */
bool writer_put_symbol(struct writer *w, const struct record_symbol *s);
/* All records of a batch, as a reader found them, without coding them anew. */
bool writer_put_batch(struct writer *w, const struct stream_batch *b);
/* Ends the block; the same as a FLUSH record. */
bool writer_flush(struct writer *w);
bool writer_finish(struct writer *w);
/* What went wrong as a sentence, or NULL. */
const char *writer_error(const struct writer *w);
/* True where writer_error is about a record that was refused (status 3), not about the system (1). */
bool writer_refused(const struct writer *w);
/* True where the disk had no room for it. */
bool writer_full(const struct writer *w);
/* Bytes handed to the descriptor so far. */
uint64_t writer_bytes(const struct writer *w);
/* Bytes handed over in the current segment, with its header. */
uint64_t writer_segment_bytes(const struct writer *w);

#endif
