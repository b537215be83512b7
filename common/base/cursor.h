/*
 * A cursor over unchecked bytes.
 *
 *	struct cursor c = cursor_over(bytes, n);
 *	uint64_t id;
 *	struct slice name;
 *
 *	if (!cursor_varint(&c, &id) || !cursor_slice(&c, &name))
 *		return "record is cut short";
 *
 * Every cursor function checks the bytes that are left before it moves. On failure it returns false and the
 * cursor stays where it was. Integers are unsigned LEB128 (DWARF 5, section 7.6), at most ten bytes.
 */
#ifndef CPROF_BASE_CURSOR_H
#define CPROF_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VARINT_MAX = 10 };

/* Borrowed bytes, not terminated by NUL. */
struct slice {
	const uint8_t *p;
	size_t n;
};

/* Compares byte by byte, a prefix before the longer text. Returns a value below, equal to or above 0. */
static inline int slice_compare(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int differ = n ? memcmp(a.p, b.p, n) : 0;

	return differ ? differ : a.n < b.n ? -1 : a.n > b.n;
}

/* Returns the length in bytes of the longest common prefix. */
static inline size_t slice_common(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	while (i + 8 <= n && memcmp(a.p + i, b.p + i, 8) == 0)
		i += 8;
	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

struct cursor {
	const uint8_t *p;
	const uint8_t *end;
};

static inline struct slice slice_of(const char *text)
{
	return (struct slice){ (const uint8_t *)text, strlen(text) };
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
	return slice_equal(a, slice_of(text));
}

static inline bool slice_begins(struct slice a, const char *text)
{
	struct slice b = slice_of(text);

	return a.n >= b.n && memcmp(a.p, b.p, b.n) == 0;
}

/* Returns the part of a path after its last slash. */
static inline struct slice slice_base(struct slice path)
{
	const uint8_t *slash = path.n ? (const uint8_t *)memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

/* Parses a decimal number. Returns 0 if it is not one, or is too large for a time in nanoseconds. */
static inline uint64_t slice_decimal(struct slice text)
{
	uint64_t v = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || v > INT64_MAX / 10 - 9)
			return 0;
		v = v * 10 + text.p[i] - '0';
	}
	return v;
}

static inline struct cursor cursor_over(const void *p, size_t n)
{
	return (struct cursor){ p, (const uint8_t *)p + n };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool cursor_varint(struct cursor *c, uint64_t *v)
{
	uint64_t x = 0;
	const uint8_t *p = c->p;

	if (p < c->end && *p < 0x80) { /* most varints are one byte */
		*v = *p;
		c->p = p + 1;
		return true;
	}
	for (unsigned int shift = 0; shift < 64 && p < c->end; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && b > 1) /* would not fit into 64 bits */
			return false;
		x |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			c->p = p;
			*v = x;
			return true;
		}
	}
	return false;
}

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

static inline bool cursor_bytes(struct cursor *c, size_t n, struct slice *s)
{
	if (n > cursor_left(c))
		return false;
	*s = (struct slice){ c->p, n };
	c->p += n;
	return true;
}

/* Reads a slice: its length as a varint, then its bytes, which *s borrows. */
static inline bool cursor_slice(struct cursor *c, struct slice *s)
{
	struct cursor t = *c;
	uint64_t n;

	if (!cursor_varint(&t, &n) || n > cursor_left(&t) || !cursor_bytes(&t, (size_t)n, s))
		return false;
	*c = t;
	return true;
}

#endif
