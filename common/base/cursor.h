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

#include "common/base/slice.h"

enum { VARINT_MAX = 10 };

struct cursor {
	const uint8_t *p;
	const uint8_t *end;
};

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

/*
 * Take a number in the byte order of this machine, as the kernel's records have it. If the bytes do not suffice,
 * they return 0 and the cursor stays where it was.
 */
static inline uint32_t cursor_take32(struct cursor *c)
{
	uint32_t v = 0;

	if (cursor_left(c) >= sizeof(v)) {
		memcpy(&v, c->p, sizeof(v));
		c->p += sizeof(v);
	}
	return v;
}

static inline uint64_t cursor_take64(struct cursor *c)
{
	uint64_t v = 0;

	if (cursor_left(c) >= sizeof(v)) {
		memcpy(&v, c->p, sizeof(v));
		c->p += sizeof(v);
	}
	return v;
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
