#include "common/base/radix.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3, FEW_BITS = 8, FEW = 1024 };

/* Sorts by the digit of the given number of bits at shift: one pass of a counting sort. */
static void sort_by_digit(const struct radix_item *items, struct radix_item *to, size_t n, unsigned int shift,
			  unsigned int bits)
{
	uint32_t count[DIGITS + 1];
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	memset(count, 0, (mask + 2) * sizeof(*count));
	for (size_t i = 0; i < n; i++)
		count[(items[i].key >> shift & mask) + 1]++;
	for (size_t i = 1; i <= mask; i++)
		count[i] += count[i - 1];
	for (size_t i = 0; i < n; i++)
		to[count[items[i].key >> shift & mask]++] = items[i];
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t n)
{
	unsigned int bits = n < FEW ? FEW_BITS : DIGIT_BITS; /* with few items, counters cost most */
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= items[i].key ^ items[0].key;
	while (differ) {
		unsigned int shift = (unsigned int)__builtin_ctzll(differ);
		struct radix_item *swap = items;

		sort_by_digit(items, spare, n, shift, bits);
		items = spare;
		spare = swap;
		differ &= shift + bits < 64 ? UINT64_MAX << (shift + bits) : 0;
	}
	return items;
}

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
