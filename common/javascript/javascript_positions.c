#include "common/javascript/javascript_positions.h"

#include "common/base/le.h"

/* A source position: bit 0 external, script offset + 1 in 30 bits, inlining id + 1 in 16 bits. */
enum { OFFSET_SHIFT = 1, OFFSET_MASK = (1 << 30) - 1, INLINED_SHIFT = 31, INLINED_MASK = (1 << 16) - 1 };

enum { INLINING = 16, VERSION_FLAG_BIT = 0x0e0000 };

/* The first bytecodes are prefixes: the next one has operands of 2 or 4 bytes. */
enum { WIDE, EXTRA_WIDE, BREAK_WIDE, BREAK_EXTRA_WIDE, PREFIXES };

/* Reads 7 bits a byte, lowest first. Returns false at the end of the table. */
static bool read_number(struct slice *s, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; s->n > 0 && shift < 64; shift += 7) {
		uint8_t byte = *s->p++;

		s->n--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Reverses the zigzag order 0, -1, 1, -2, ... */
static int64_t signed_number(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/*
 * Reads the distance in code to the next entry. An entry is a statement or an expression; up to V8 13 the
 * sign tells which, then bit 0 of the number.
 */
static bool read_distance(uint32_t version, struct slice *s, uint64_t *distance)
{
	uint64_t value;
	int64_t number;

	if (!read_number(s, &value))
		return false;
	number = signed_number(value);
	if (version >= VERSION_FLAG_BIT)
		number >>= 1;
	else if (number < 0)
		number = -(number + 1);
	*distance = (uint64_t)number;
	return number >= 0 && number <= INT32_MAX;
}

/* Finds the last entry at or before the offset. Returns its source position; 0: there is none. */
static uint64_t find_position(uint32_t version, struct slice table, uint32_t offset)
{
	uint64_t at = UINT64_MAX, distance, delta, position = 0, found = 0; /* at: -1 */

	while (read_distance(version, &table, &distance) && read_number(&table, &delta)) {
		at += distance;
		position += (uint64_t)signed_number(delta);
		if (at != UINT64_MAX && at > offset)
			break;
		found = position;
	}
	return found;
}

/* Steps over one bytecode and its prefix. Returns false at the end, or if it is not one. */
static bool next_bytecode(struct slice lengths, struct slice *bytecodes)
{
	size_t row = 0, rows = lengths.n / 3, n;

	if (bytecodes->n && bytecodes->p[0] < PREFIXES) {
		row = bytecodes->p[0] == WIDE || bytecodes->p[0] == BREAK_WIDE ? 1 : 2;
		bytecodes->p++;
		bytecodes->n--;
	}
	if (!bytecodes->n || bytecodes->p[0] >= rows)
		return false;
	n = lengths.p[row * rows + bytecodes->p[0]];
	if (n == 0 || n > bytecodes->n)
		return false;
	bytecodes->p += n;
	bytecodes->n -= n;
	return true;
}

bool javascript_bytecode_at(const struct javascript_code *c, uint32_t offset, uint32_t *bytecode)
{
	struct slice offsets = c->offsets, rest = c->bytecodes;
	uint64_t end, bytes;

	if (!read_number(&offsets, &end) || offset < end) /* the prologue */
		return false;
	while (read_number(&offsets, &bytes) && bytes <= UINT32_MAX) {
		*bytecode = (uint32_t)(c->bytecodes.n - rest.n);
		if (!next_bytecode(c->lengths, &rest))
			return false;
		end += bytes;
		if (offset < end)
			return true;
	}
	return false;
}

static uint64_t position_at(const struct javascript_code *c, uint32_t offset)
{
	if (c->baseline && !javascript_bytecode_at(c, offset, &offset))
		return 0;
	return find_position(c->version, c->positions, offset);
}

static uint32_t script_offset(uint64_t position)
{
	uint32_t offset = (uint32_t)(position >> OFFSET_SHIFT) & OFFSET_MASK;

	return (position & 1) || offset == 0 ? JAVASCRIPT_NOWHERE : offset - 1;
}

int javascript_levels(const struct javascript_code *c, uint32_t offset,
		      struct javascript_level levels[static JAVASCRIPT_LEVELS])
{
	uint64_t position = position_at(c, offset), inlined;
	int n = 0;

	/* Steps are bounded: a damaged table may lead in a circle. */
	for (int steps = 0; steps < JAVASCRIPT_LEVELS - 1; steps++) {
		const uint8_t *inlining;
		int32_t function;

		inlined = position & 1 ? 0 : position >> INLINED_SHIFT & INLINED_MASK;
		if (inlined == 0)
			break;
		if (inlined > c->inlinings.n / INLINING) {
			position = 0;
			break;
		}
		inlining = c->inlinings.p + (inlined - 1) * INLINING;
		function = (int32_t)le32_load(inlining + 8);
		if (function >= 0) /* otherwise it is not a function of JavaScript */
			levels[n++] = (struct javascript_level){ function, script_offset(position) };
		position = le64_load(inlining);
	}
	inlined = position & 1 ? 0 : position >> INLINED_SHIFT & INLINED_MASK;
	levels[n++] = (struct javascript_level){ JAVASCRIPT_OWN,
						 inlined ? JAVASCRIPT_NOWHERE : script_offset(position) };
	return n;
}
