/*
 * A growing byte buffer that remembers its first failure.
 *
 *	struct buf b = { 0 };
 *
 *	buf_varint(&b, id);
 *	buf_slice(&b, name);
 *	if (b.failed)		// check once, at the end
 *		...
 *	buf_release(&b);
 *
 * After a failed allocation every append is a no-op until buf_clear, so calls in between need no check.
 * A zeroed struct is an empty buffer.
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

/* Makes room for n more bytes. Returns false, and sets b->failed, if out of memory. */
bool buf_reserve(struct buf *b, size_t n);
void buf_bytes(struct buf *b, const void *p, size_t n);
void buf_text(struct buf *b, const char *text);
void buf_slice(struct buf *b, struct slice s); /* its length as a varint, then its bytes */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns a view of the contents, valid until the next call that changes the buffer. */
struct slice buf_view(const struct buf *b);
/* Returns the number of newlines in the buffer. */
size_t buf_lines(const struct buf *b);
/*
 * Adds a NUL that b->n does not count and returns the text, valid until the next call that changes the
 * buffer. Returns "" after a failure.
 */
const char *buf_cstr(struct buf *b);
/* Empties the buffer and clears b->failed, but keeps the memory. */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);

/* Returns true if n more bytes fit without a reallocation, as they do nine times in ten. */
static inline bool buf_has_room(const struct buf *b, size_t n)
{
	return n <= b->cap - b->n && !b->failed;
}

/* Stores v as a varint of at most VARINT_MAX bytes. Returns the address after its last byte. */
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
