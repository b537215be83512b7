#include "common/elf/candidate.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/radix.h"
#include "common/elf/symbols.h"

void candidates_drop_items(struct candidates *c)
{
	free(c->items);
	c->items = NULL;
	c->n = c->cap = 0;
}

void candidates_release(struct candidates *c)
{
	candidates_drop_items(c);
	for (size_t i = 0; i < c->n_tables; i++)
		free(c->tables[i].bytes);
	c->n_tables = 0;
}

bool candidates_add(struct candidates *c, const struct candidate *one)
{
	if (c->n >= INT32_MAX || !grow_array(&c->items, &c->cap, c->n, sizeof(*c->items)))
		return false;
	c->items[c->n++] = *one;
	return true;
}

bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table)
{
	if (c->n_tables >= STRING_TABLES_MAX) {
		free(bytes);
		return false;
	}
	*table = (uint8_t)c->n_tables;
	c->tables[c->n_tables++] = (struct string_table){ bytes, n };
	return true;
}

const char *candidates_string(const struct candidates *c, uint8_t table, uint32_t offset)
{
	return offset < c->tables[table].n ? c->tables[table].bytes + offset : NULL;
}

static int compare_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Negative where a is the worse name. */
static int compare_names(const struct candidates *c, const struct candidate *a, const struct candidate *b)
{
	const char *x = candidates_string(c, a->table, a->name), *y = candidates_string(c, b->table, b->name);
	size_t n_x, n_y;
	int by;

	if (x == y)
		return 0;
	by = compare_number(strspn(y, "_"), strspn(x, "_"));
	if (by)
		return by;
	n_x = strnlen(x, SYMBOL_NAME_MAX);
	n_y = strnlen(y, SYMBOL_NAME_MAX);
	by = compare_number(n_y, n_x);
	return by ? by : memcmp(y, x, n_x);
}

/* Labels, larger, smaller; worse, better. */
static int compare(const void *pa, const void *pb, void *arg)
{
	const struct candidate *a = pa, *b = pb;
	bool label_a = a->start == a->end, label_b = b->start == b->end;
	int by;

	if (label_a != label_b)
		return label_a ? -1 : 1;
	by = compare_number(b->end, a->end);
	if (!by)
		by = compare_number(b->rank, a->rank);
	return by ? by : compare_names(arg, a, b);
}

bool candidates_sort(struct candidates *c)
{
	struct radix_item *keys = malloc((c->n + 1) * 2 * sizeof(*keys)), *sorted;
	struct candidate *items = malloc((c->n + 1) * sizeof(*items));

	if (!keys || !items) {
		free(keys);
		free(items);
		return false;
	}
	for (size_t i = 0; i < c->n; i++)
		keys[i] = (struct radix_item){ c->items[i].start, (uint32_t)i };
	sorted = radix_sort(keys, keys + c->n + 1, c->n);
	for (size_t i = 0; i < c->n; i++)
		items[i] = c->items[sorted[i].value];
	free(keys);
	free(c->items);
	c->items = items;
	c->cap = c->n + 1;
	for (size_t first = 0, last; first < c->n; first = last) {
		for (last = first + 1; last < c->n && items[last].start == items[first].start; last++)
			;
		if (last - first > 1)
			qsort_r(items + first, last - first, sizeof(*items), compare, c);
	}
	return true;
}
