/* Fuzzes lines as mangled names, in each mode, and as demangled names (also from Ada): output is bounded. */
#include "tests/lib/fuzz.h"

#include "common/demangle/demangle.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void take(struct slice name)
{
	struct buf out = { 0 };

	for (int mode = DEMANGLE_NONE; mode <= DEMANGLE_FULL; mode++) {
		buf_clear(&out);
		buf_text(&out, "before");
		demangle(&out, name, (enum demangle_mode)mode);
		/* A clone's suffix is added: " [clone .x]" for ".x". */
		must(!out.failed && out.n <= 6 + DEMANGLE_OUT_MAX + 12 * name.n && memcmp(out.p, "before", 6) == 0);
		must(mode != DEMANGLE_NONE || (out.n == 6 + name.n && (!name.n || memcmp(out.p + 6, name.p, name.n) == 0)));
		buf_clear(&out);
		must(demangle_ada(&out, name, (enum demangle_mode)mode) || out.n == 0);
		buf_clear(&out);
		demangle_given(&out, name, (enum demangle_mode)mode);
		must(!out.failed && out.n <= DEMANGLE_OUT_MAX + 12 * name.n);
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	while (n > 0) {
		const uint8_t *newline = memchr(p, '\n', n);
		size_t length = newline ? (size_t)(newline - p) : n;
		uint8_t *copy = malloc(length + 1); /* so that reading a byte too many is detected */

		must(copy);
		memcpy(copy, p, length);
		take((struct slice){ copy, length });
		free(copy);
		p += length + (newline != NULL);
		n -= length + (newline != NULL);
	}
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
