/* Fuzzes bytes as a line table of Python: a byte for the form, two for the first line, the table. */
#include "tests/lib/fuzz.h"

#include "common/base/le.h"
#include "common/python/python_lines.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const uint32_t versions[] = { 0x030700, 0x030a00, 0x030b00, 0x030f00 };
	uint8_t *copy;
	uint32_t line = 0, again = 0, version;

	if (n < 3)
		return 0;
	version = versions[bytes[0] & 3];
	copy = malloc(n - 3 + 1); /* so that reading a byte too many is detected */
	demand(copy != NULL);
	memcpy(copy, bytes + 3, n - 3);
	for (uint32_t offset = 0; offset < 300; offset++) {
		bool found = python_line(version, (struct slice){ copy, n - 3 }, le16_load(bytes + 1), offset,
					 &line);

		demand(!found || (line > 0 && line <= INT32_MAX));
	}
	python_line(version, (struct slice){ copy, n - 3 }, UINT32_MAX, UINT32_MAX, &line);
	demand(!python_line(version, (struct slice){ copy, 0 }, 7, UINT32_MAX / 2, &again));
	free(copy);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
