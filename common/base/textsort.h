/*
 * Sorts texts by their bytes, a prefix before the longer text.
 *
 *	for (i = 0; i < n; i++)
 *		items[i].id = i;
 *	text_sort(texts, items, n);	// texts[items[0].id] is now the first
 *
 * The sort reads eight bytes of each text at a time, and goes on only where texts are equal so far. Long
 * texts with long common prefixes, like stacks, are therefore read only once. Texts must not contain zero
 * bytes.
 */
#ifndef CPROF_BASE_TEXTSORT_H
#define CPROF_BASE_TEXTSORT_H

#include "common/base/cursor.h"

struct text_item {
	uint64_t key; /* used by the sort */
	uint32_t id;  /* index into texts */
};

void text_sort(const struct slice *texts, struct text_item *items, size_t n);

#endif
