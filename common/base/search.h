/*
 * Binary search.
 *
 *	n = SEARCH_COUNT(list.n, i, list.items[i].start <= address);
 *	if (n > 0)
 *		...list.items[n - 1] is the last item that starts at the address or before...
 *
 * Returns how many of the count elements satisfy the condition, an expression of the index i. The elements that satisfy it must
 * come first.
 */
#ifndef CPROF_BASE_SEARCH_H
#define CPROF_BASE_SEARCH_H

#include <stddef.h>

#define SEARCH_COUNT(count, i, condition) __extension__({                              \
	size_t search_low_ = 0, search_high_ = (count);                                \
										       \
	while (search_low_ < search_high_) {                                           \
		size_t i = search_low_ + (search_high_ - search_low_) / 2;             \
										       \
		if (condition)                                                         \
			search_low_ = i + 1;                                           \
		else                                                                   \
			search_high_ = i;                                              \
	}                                                                              \
	search_low_;                                                                   \
})

#endif
