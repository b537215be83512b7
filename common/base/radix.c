#include "common/base/radix.h"

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t n)
{
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= items[i].key ^ items[0].key;
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		size_t count[257] = { 0 };
		struct radix_item *swap = items;

		if (!(differ >> shift & 0xff))
			continue;
		for (size_t i = 0; i < n; i++)
			count[(items[i].key >> shift & 0xff) + 1]++;
		for (size_t i = 1; i < 257; i++)
			count[i] += count[i - 1];
		for (size_t i = 0; i < n; i++)
			spare[count[items[i].key >> shift & 0xff]++] = items[i];
		items = spare;
		spare = swap;
	}
	return items;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

uint64_t *radix_sort_high(uint64_t *items, uint64_t *spare, size_t n)
{
	size_t count[PASSES][DIGITS] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		for (unsigned int pass = 0; pass < PASSES; pass++)
			count[pass][items[i] >> (32 + pass * DIGIT_BITS) & (DIGITS - 1)]++;
	}
	for (unsigned int pass = 0; pass < PASSES; pass++) {
		unsigned int shift = 32 + pass * DIGIT_BITS;
		uint64_t *swap = items;
		size_t before = 0;

		if (n == 0 || count[pass][items[0] >> shift & (DIGITS - 1)] == n)
			continue;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t here = count[pass][i];

			count[pass][i] = before;
			before += here;
		}
		for (size_t i = 0; i < n; i++)
			spare[count[pass][items[i] >> shift & (DIGITS - 1)]++] = items[i];
		items = spare;
		spare = swap;
	}
	return items;
}
