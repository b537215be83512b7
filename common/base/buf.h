/*
 * A growing byte buffer that keeps its first failure.
 *
 *	struct buf b = { 0 };
 *
 *	buf_varint(&b, id);
 *	buf_slice(&b, name);
 *	if (b.failed)		// asked once, at the end
 *		...
 *	buf_release(&b);
 *
 * After a failed allocation every call is a no-op, so nothing has to be checked in between.
 */
#ifndef CPROF_BASE_BUF_H
#define CPROF_BASE_BUF_H

#include "common/base/cursor.h"

struct buf {
	uint8_t *p;
	size_t n;   /* bytes used */
	size_t cap; /* bytes allocated */
	bool failed;
};

/* Makes room for n more bytes; false (and b->failed) without memory. */
bool buf_reserve(struct buf *b, size_t n);
void buf_bytes(struct buf *b, const void *p, size_t n);
void buf_byte(struct buf *b, uint8_t v);
void buf_text(struct buf *b, const char *text);
void buf_varint(struct buf *b, uint64_t v);
void buf_slice(struct buf *b, struct slice s); /* length as varint, then bytes */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A view of what is in it, good until the next call that changes it. */
struct slice buf_view(const struct buf *b);
/* How many newlines are in it. */
size_t buf_lines(const struct buf *b);
/* Ends the text with a NUL that is not counted and lends it; "" after a failure. */
const char *buf_cstr(struct buf *b);
/* Empties it and keeps the memory; a failure is forgotten. */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);

/*
 * The array form of the same habit: makes room for element n of an array of elements of this size,
 * doubling; new elements are zero. False without memory, the array then is as it was.
 */
bool grow_array(void *array_ptr, size_t *cap, size_t n, size_t size);

#endif
