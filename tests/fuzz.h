/*
 * What fuzz targets share. With libFuzzer (-DFUZZING -fsanitize=fuzzer) a target has only its
 * LLVMFuzzerTestOneInput; without it, it is a program:
 *
 *	fuzz-elf FILE ...		once with each file as it is
 *	fuzz-elf -m COUNT FILE ...	and with COUNT changes of it: bytes set, copied, cut off
 *
 * The changes are the same in each run, so whatever they find can be found again.
 */
#ifndef CPROF_TESTS_FUZZ_H
#define CPROF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#ifndef FUZZING
static uint64_t fuzz_state = 88172645463325252;

/* xorshift (Marsaglia 2003) */
static uint64_t fuzz_random(void)
{
	fuzz_state ^= fuzz_state << 13;
	fuzz_state ^= fuzz_state >> 7;
	return fuzz_state ^= fuzz_state << 17;
}

static size_t fuzz_change(uint8_t *p, size_t n)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };

	for (uint64_t changes = 1 + fuzz_random() % 8; changes > 0; changes--) {
		/* Half of them in the first bytes, where headers are. */
		size_t at = fuzz_random() % (fuzz_random() & 1 ? n : n < 512 ? n : 512);
		size_t length = 1 + fuzz_random() % 8;

		length = length < n - at ? length : n - at;
		switch (fuzz_random() % 4) {
		case 0:
			p[at] = (uint8_t)fuzz_random();
			break;
		case 1:
			memset(p + at, values[fuzz_random() % sizeof(values)], length);
			break;
		case 2:
			memmove(p + at, p + fuzz_random() % (n - length + 1), length);
			break;
		default:
			p[at] ^= (uint8_t)(1 << fuzz_random() % 8);
		}
	}
	return fuzz_random() % 8 ? n : fuzz_random() % n + 1;
}

static void fuzz_file(const char *path, long count)
{
	FILE *in = fopen(path, "rb");
	size_t n, cap = 1 << 24;
	uint8_t *whole = malloc(cap), *changed = malloc(cap);

	if (!in || !whole || !changed) {
		perror(path);
		exit(1);
	}
	n = fread(whole, 1, cap, in);
	fclose(in);
	LLVMFuzzerTestOneInput(whole, n);
	for (long i = 0; n > 0 && i < count; i++) {
		memcpy(changed, whole, n);
		LLVMFuzzerTestOneInput(changed, fuzz_change(changed, n));
	}
	free(whole);
	free(changed);
}

int main(int argc, char **argv)
{
	long count = argc > 2 && strcmp(argv[1], "-m") == 0 ? atol(argv[2]) : 0;

	for (int i = count ? 3 : 1; i < argc; i++)
		fuzz_file(argv[i], count);
	return 0;
}
#endif
#endif
