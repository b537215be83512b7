/*
 * Reads DWARF's encoded numbers from untrusted bytes. Only for this directory.
 *
 * Like the cursor's own functions, these return false and do not move if there are too few bytes.
 */
#ifndef CPROF_ELF_ENCODED_H
#define CPROF_ELF_ENCODED_H

#include "common/base/cursor.h"
#include "common/base/le.h"

/* Pointer encodings, LSB 5.0 core 10.5.1: the low four bits are the format, the next three the base. */
enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_FORMAT = 0x0f,
	ENCODED_BASE = 0x70,
	ENCODED_ALIGNED = 0x50,  /* absolute, at the next address that is divisible by 8 */
	ENCODED_INDIRECT = 0x80, /* the address of a cell that the dynamic linker fills: refused */
	ENCODED_OMITTED = 0xff,
};

/* Bases for pointers in a section; address 0 is unknown. */
struct encoded_bases {
	const uint8_t *section; /* its first byte in memory, */
	uint64_t vaddr;         /* and its linked address */
	uint64_t text, data;
};

bool encoded_signed(struct cursor *c, int64_t *v); /* SLEB128 */
/* Reads a value by its format alone; extends signed ones to 64 bits. */
bool encoded_value(struct cursor *c, uint8_t encoding, uint64_t *v);
/* Reads a pointer: the value plus its base. */
bool encoded_pointer(struct cursor *c, uint8_t encoding, const struct encoded_bases *bases, uint64_t *v);

static inline bool encoded_u8(struct cursor *c, uint8_t *v)
{
	if (c->p == c->end)
		return false;
	*v = *c->p++;
	return true;
}

/* A little-endian number of 1, 2, 4 or 8 bytes. */
static inline bool encoded_fixed(struct cursor *c, size_t bytes, uint64_t *v)
{
	if (bytes > cursor_left(c))
		return false;
	*v = bytes == 1 ? *c->p : bytes == 2 ? le16_load(c->p) : bytes == 4 ? le32_load(c->p) : le64_load(c->p);
	c->p += bytes;
	return true;
}

/* ULEB128; most have one byte. */
static inline bool encoded_unsigned(struct cursor *c, uint64_t *v)
{
	if (c->p < c->end && *c->p < 0x80) {
		*v = *c->p++;
		return true;
	}
	return cursor_varint(c, v);
}

#endif
