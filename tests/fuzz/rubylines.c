/*
 * Fuzzes bytes as a line table of Ruby, for both sizes of entries: each line is positive, and from the
 * table.
 */
#include "tests/lib/fuzz.h"

#include "common/ruby/ruby_lines.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const uint32_t versions[] = { 0x020704, 0x030102 };
	uint8_t *copy = malloc(n + 1); /* has this size, so that reading a byte too many is detected */
	uint32_t line;

	demand(copy != NULL);
	memcpy(copy, bytes, n);
	for (size_t v = 0; v < 2; v++) {
		for (uint32_t position = 0; position < 2000; position++)
			demand(!ruby_line(versions[v], (struct slice){ copy, n }, position, &line) ||
			       (line > 0 && line <= INT32_MAX));
		ruby_line(versions[v], (struct slice){ copy, n }, UINT32_MAX, &line);
	}
	free(copy);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
