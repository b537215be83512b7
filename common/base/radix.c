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
