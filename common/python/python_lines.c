#include "common/python/python_lines.h"

#include "common/base/cursor.h"
#include "common/lang/lang.h"

enum { VERSION_BYTE_PAIRS = 0x030a00, VERSION_LOCATIONS = 0x030b00, NO_LINE = -128 };

/* The kinds of entries of a location table. */
enum { CODE_ONE_LINE = 10, CODE_NO_COLUMN = 13, CODE_LONG = 14, CODE_NONE = 15 };

static bool take_line(uint32_t at, uint32_t *line)
{
	*line = at;
	return at > 0 && at <= INT32_MAX;
}

/*
 * Up to 3.9: pairs {bytes, lines}. The last line holds up to the end of the code, unless the table was cut.
 */
static bool find_in_lnotab(struct slice t, uint32_t at, uint32_t offset, uint32_t *line)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 2 <= t.n; i += 2) {
		end += t.p[i];
		if (end > offset)
			return take_line(at, line);
		at += (uint32_t)(int8_t)t.p[i + 1];
	}
	return t.n < LANG_TABLE && take_line(at, line);
}

/* 3.10: the same pairs, but an entry's line is that of its own bytes, which may have none. */
static bool find_in_pairs(struct slice t, uint32_t at, uint32_t offset, uint32_t *line)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 2 <= t.n; i += 2) {
		int8_t lines = (int8_t)t.p[i + 1];

		end += t.p[i];
		at += lines == NO_LINE ? 0 : (uint32_t)lines;
		if (end > offset)
			return lines != NO_LINE && take_line(at, line);
	}
	return false;
}

/* Six bits a byte, the lowest first; bit 6: more follow. The lowest bit of the number is its sign. */
static bool take_signed(struct cursor *c, uint32_t *number)
{
	uint32_t v = 0;

	for (unsigned int shift = 0; shift < 32 && c->p < c->end; shift += 6) {
		uint8_t b = *c->p++;

		v |= (uint32_t)(b & 63) << shift;
		if (b & 64)
			continue;
		*number = v & 1 ? -(v >> 1) : v >> 1;
		return true;
	}
	return false;
}

/* From 3.11 on. An entry begins with a byte whose highest bit is set: {1, code:4, code units - 1:3}. */
static bool find_in_locations(struct slice t, uint32_t at, uint32_t offset, uint32_t *line)
{
	struct cursor c = cursor_over(t.p, t.n);
	uint32_t end = 0, lines;

	while (c.p < c.end) {
		uint8_t b = *c.p++, code = b >> 3 & 15;

		lines = 0;
		if ((code == CODE_NO_COLUMN || code == CODE_LONG) && !take_signed(&c, &lines))
			return false;
		if (code >= CODE_ONE_LINE && code < CODE_NO_COLUMN)
			lines = code - CODE_ONE_LINE;
		at += lines;
		end += ((b & 7u) + 1) * 2;
		if (end > offset)
			return code != CODE_NONE && take_line(at, line);
		while (c.p < c.end && !(*c.p & 0x80))
			c.p++;
	}
	return false;
}

bool python_line(uint32_t version, struct slice table, uint32_t first_line, uint32_t offset, uint32_t *line)
{
	if (offset > LANG_POSITION_MOST)
		return false;
	if (version < VERSION_BYTE_PAIRS)
		return find_in_lnotab(table, first_line, offset, line);
	if (version < VERSION_LOCATIONS)
		return find_in_pairs(table, first_line, offset * 2, line);
	return find_in_locations(table, first_line, offset, line);
}
