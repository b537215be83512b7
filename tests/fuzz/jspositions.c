/*
 * Fuzzes bytes as the tables of V8's code: the parts are as long as the first bytes say. Each place has at
 * least one function, and at most JAVASCRIPT_LEVELS.
 */
#include "tests/lib/fuzz.h"

#include "common/javascript/javascript_positions.h"

enum { PARTS = 5, HEAD = PARTS + 1 };

static void demand(bool holds)
{
	if (!holds)
		abort();
}

/* A copy of this size, so that reading a byte too many is detected. */
static struct slice copy_part(const uint8_t **p, size_t *left, size_t n)
{
	uint8_t *copy;

	n = n < *left ? n : *left;
	copy = malloc(n + 1);
	demand(copy != NULL);
	memcpy(copy, *p, n);
	*p += n;
	*left -= n;
	return (struct slice){ copy, n };
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const uint32_t versions[] = { 0x090400, 0x0e0600 };
	struct javascript_level levels[JAVASCRIPT_LEVELS];
	struct javascript_code c = { 0 };
	struct slice *parts[PARTS] = { &c.positions, &c.inlinings, &c.offsets, &c.bytecodes, &c.lengths };
	const uint8_t *p = bytes + HEAD;
	size_t left = n - HEAD;

	if (n < HEAD)
		return 0;
	for (size_t i = 0; i < PARTS; i++)
		*parts[i] = copy_part(&p, &left, bytes[i]);
	c.baseline = bytes[PARTS] & 1;
	for (size_t v = 0; v < 2; v++) {
		c.version = versions[v];
		for (uint32_t offset = 0; offset < 600; offset++) {
			uint32_t at;
			int found = javascript_levels(&c, offset, levels);

			demand(found >= 1 && found <= JAVASCRIPT_LEVELS);
			demand(levels[found - 1].function == JAVASCRIPT_OWN);
			demand(!javascript_bytecode_at(&c, offset, &at) || at < c.bytecodes.n);
		}
		javascript_levels(&c, UINT32_MAX, levels);
	}
	for (size_t i = 0; i < PARTS; i++)
		free((void *)(uintptr_t)parts[i]->p);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
