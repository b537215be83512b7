#include "common/lang/java_lines.h"

enum {
	U5_LOW = 192, /* a byte below ends the number */
	U5_BYTES = 5,
	U5_SHIFT = 6,
	ESCAPE = 0xff,
};

bool java_unsigned5(uint32_t version, struct slice table, size_t *at, uint32_t *number)
{
	uint32_t zero = version >= 20, sum = 0;

	for (unsigned int i = 0; i < U5_BYTES && *at < table.n; i++) {
		uint32_t byte = table.p[(*at)++];

		if (byte < zero)
			return false;
		sum += (byte - zero) << (U5_SHIFT * i);
		if (byte - zero < U5_LOW || i == U5_BYTES - 1) {
			*number = sum;
			return true;
		}
	}
	return false;
}

static bool take_signed(uint32_t version, struct slice table, size_t *at, int32_t *step)
{
	uint32_t number;

	if (!java_unsigned5(version, table, at, &number))
		return false;
	*step = (int32_t)(number >> 1) ^ -(int32_t)(number & 1);
	return true;
}

/* Takes the steps to the next entry. False: there is none; *whole: the table says so. */
static bool take_entry(uint32_t version, struct slice table, size_t *at, int32_t steps[2], bool *whole)
{
	uint32_t byte = *at < table.n ? table.p[(*at)++] : ESCAPE;

	*whole = byte == 0;
	if (byte == 0)
		return false;
	if (byte == ESCAPE)
		return take_signed(version, table, at, &steps[0]) && take_signed(version, table, at, &steps[1]);
	steps[0] = (int32_t)(byte >> 3);
	steps[1] = (int32_t)(byte & 7);
	return true;
}

bool java_line(uint32_t version, struct slice table, uint32_t bci, uint32_t *line)
{
	uint32_t at_bci = 0, at_line = 0, best = 0;
	bool found = false, whole = false;
	int32_t steps[2];
	size_t at = 0;

	while (take_entry(version, table, &at, steps, &whole)) {
		at_bci += (uint32_t)steps[0];
		at_line += (uint32_t)steps[1];
		if (at_bci > bci || (found && at_bci < best))
			continue;
		found = true;
		best = at_bci;
		*line = at_line;
	}
	return found && whole;
}
