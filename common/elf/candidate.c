#include "common/elf/candidate.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
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
		mapped_close(&c->tables[i]);
	c->n_tables = 0;
}

bool candidates_add(struct candidates *c, const struct candidate *one)
{
	uint32_t check = candidates_check(candidates_string(c, one->table, one->name));

	if (!check)
		return true;
	if (c->n >= INT32_MAX || !grow_array(&c->items, &c->cap, c->n, sizeof(*c->items)))
		return false;
	c->items[c->n] = *one;
	c->items[c->n++].check = check;
	return true;
}

bool candidates_add_mapped(struct candidates *c, struct mapped *strings, uint8_t *table)
{
	if (c->n_tables >= STRING_TABLES_MAX) {
		mapped_close(strings);
		return false;
	}
	*table = (uint8_t)c->n_tables;
	c->tables[c->n_tables++] = *strings;
	return true;
}

bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table)
{
	struct mapped strings;

	mapped_take(&strings, bytes, n);
	return candidates_add_mapped(c, &strings, table);
}

struct slice candidates_string(const struct candidates *c, uint8_t table, uint32_t offset)
{
	const struct mapped *strings = &c->tables[table];
	size_t left = offset < strings->n ? strings->n - offset : 0;

	if (left == 0)
		return (struct slice){ NULL, 0 };
	mapped_use(strings);
	return (struct slice){ strings->p + offset,
			       strnlen((const char *)strings->p + offset, left < SYMBOL_NAME_MAX ? left : SYMBOL_NAME_MAX) };
}

uint32_t candidates_check(struct slice name)
{
	return name.n ? (uint32_t)hash_bytes(name.p, name.n) | 1 : 0;
}

struct slice candidates_bare(struct slice name)
{
	const uint8_t *version = name.n > 1 ? memchr(name.p + 1, '@', name.n - 1) : NULL;

	return (struct slice){ name.p, version ? (size_t)(version - name.p) : name.n };
}

static int compare_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static size_t underscores(struct slice name)
{
	size_t n = 0;

	while (n < name.n && name.p[n] == '_')
		n++;
	return n;
}

/* Negative where a is the worse name. */
static int compare_names(const struct candidates *c, const struct candidate *a, const struct candidate *b)
{
	struct slice x, y;
	int by;

	if (a->table == b->table && a->name == b->name)
		return 0;
	x = candidates_bare(candidates_string(c, a->table, a->name));
	y = candidates_bare(candidates_string(c, b->table, b->name));
	by = compare_number(underscores(y), underscores(x));
	if (!by)
		by = compare_number(y.n, x.n);
	return by ? by : memcmp(y.p, x.p, x.n);
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

/* Puts the items in the order of the keys' values, without a second array of them. */
static void arrange(struct candidate *items, struct radix_item *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct candidate first = items[i];
		size_t to = i;

		while (order[to].value != i) {
			size_t from = order[to].value;

			items[to] = items[from];
			order[to].value = (uint32_t)to;
			to = from;
		}
		items[to] = first;
		order[to].value = (uint32_t)to;
	}
}

bool candidates_sort(struct candidates *c)
{
	struct radix_item *keys = malloc((c->n + 1) * sizeof(*keys)), *spare = malloc((c->n + 1) * sizeof(*keys));
	struct candidate *items = c->items;
	bool good = keys && spare;

	for (size_t i = 0; good && i < c->n; i++)
		keys[i] = (struct radix_item){ items[i].start, (uint32_t)i };
	if (good)
		arrange(items, radix_sort(keys, spare, c->n), c->n);
	free(keys);
	free(spare);
	for (size_t first = 0, last; good && first < c->n; first = last) {
		for (last = first + 1; last < c->n && items[last].start == items[first].start; last++)
			;
		if (last - first > 1)
			qsort_r(items + first, last - first, sizeof(*items), compare, c);
	}
	return good;
}
