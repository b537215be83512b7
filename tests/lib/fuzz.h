/*
 * Runs a fuzz target without a fuzzer: replays files, and with -m N also N copies of each, changed in a few
 * places, the same ones in each run.
 */
#ifndef CPROF_TESTS_FUZZ_H
#define CPROF_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

enum { FUZZ_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Flips, overwrites, repeats, moves and cuts out bytes. */
static inline size_t fuzz_change(uint8_t *p, size_t n, size_t cap)
{
	size_t at = random_below(n), from = random_below(n), most = n - (at > from ? at : from);
	size_t length = 1 + random_below(most < 40 ? most : 40);

	switch (random_below(6)) {
	case 0:
		p[at] ^= (uint8_t)(1 << random_below(8));
		return n;
	case 1:
		p[at] = (uint8_t)random_u64();
		return n;
	case 2:
		p[at] = random_below(2) ? 0xff : 0x80;
		return n;
	case 3:
		memmove(p + at, p + from, length);
		return n;
	case 4:
		memmove(p + at, p + at + length, n - at - length);
		return n - length;
	default:
		if (n + length > cap)
			return n;
		memmove(p + at + length, p + at, n - at);
		return n + length;
	}
}

static inline int fuzz_replay(int argc, char **argv)
{
	static uint8_t bytes[FUZZ_MAX], changed[FUZZ_MAX];
	unsigned long times = 0;
	int i = 1;

	if (argc > 2 && strcmp(argv[1], "-m") == 0) {
		times = strtoul(argv[2], NULL, 10);
		i = 3;
	}
	for (; i < argc; i++) {
		FILE *f = fopen(argv[i], "re");
		size_t n;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		n = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		LLVMFuzzerTestOneInput(bytes, n);
		for (unsigned long k = 0; k < times; k++) {
			size_t m = n;

			memcpy(changed, bytes, n);
			for (uint64_t c = 1 + random_below(8); c > 0 && m > 0; c--)
				m = fuzz_change(changed, m, sizeof(changed));
			LLVMFuzzerTestOneInput(changed, m);
		}
	}
	return 0;
}

#endif
