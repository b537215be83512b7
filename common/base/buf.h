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
void buf_text(struct buf *b, const char *text);
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
static inline bool grow_array(void *array_ptr, size_t *cap, size_t n, size_t size);
/* The same for elements that are written before they are read: what is in new ones is undefined. */
static inline bool extend_array(void *array_ptr, size_t *cap, size_t n, size_t size);

/* Where there is no room yet. */
bool enlarge_array(void *array_ptr, size_t *cap, size_t n, size_t size, bool zeroed);

static inline bool grow_array(void *array_ptr, size_t *cap, size_t n, size_t size)
{
	return n < *cap || enlarge_array(array_ptr, cap, n, size, true);
}

static inline bool extend_array(void *array_ptr, size_t *cap, size_t n, size_t size)
{
	return n < *cap || enlarge_array(array_ptr, cap, n, size, false);
}

/* Is there room for n more already, as nine times in ten? */
static inline bool buf_has_room(const struct buf *b, size_t n)
{
	return n <= b->cap - b->n && !b->failed;
}

/* The bytes of a varint, of which there may be VARINT_MAX; what comes behind them. */
static inline uint8_t *varint_store(uint8_t *p, uint64_t v)
{
	while (v > 0x7f) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline void buf_byte(struct buf *b, uint8_t v)
{
	if (buf_has_room(b, 1) || buf_reserve(b, 1))
		b->p[b->n++] = v;
}

static inline void buf_varint(struct buf *b, uint64_t v)
{
	if (buf_has_room(b, VARINT_MAX) || buf_reserve(b, VARINT_MAX))
		b->n = (size_t)(varint_store(b->p + b->n, v) - b->p);
}

#endif
