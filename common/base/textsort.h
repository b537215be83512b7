/*
 * Sorting texts by their bytes, what ends first before what goes on.
 *
 *	for (i = 0; i < n; i++)
 *		items[i].id = i;
 *	text_sort(texts, items, n);	// texts[items[0].id] is the first one now
 *
 * Eight bytes of each text are looked at at a time and the rest only of those that are equal so far, so that long
 * texts with long beginnings in common, as stacks are, cost each of their bytes once. Texts hold no zero bytes.
 */
#ifndef CPROF_BASE_TEXTSORT_H
#define CPROF_BASE_TEXTSORT_H

#include "common/base/cursor.h"

struct text_item {
	uint64_t key; /* room for the sort */
	uint32_t id;
};

void text_sort(const struct slice *texts, struct text_item *items, size_t n);

#endif
