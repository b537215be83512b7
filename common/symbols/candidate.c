#include "common/symbols/candidate.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/radix.h"
#include "common/symbols/prefer.h"
#include "common/symbols/symbols.h"

void candidates_drop_items(struct candidates *c)
{
	free(c->items);
	free(c->order);
	free(c->spare);
	c->items = NULL;
	c->order = c->spare = NULL;
	c->n = c->cap = 0;
}

void candidates_release(struct candidates *c)
{
	candidates_drop_items(c);
	for (size_t i = 0; i < c->n_tables; i++) {
		mapped_close(&c->tables[i].bytes);
		free(c->tables[i].sums);
	}
	c->n_tables = 0;
}

/* Does not use grow_array, which zeroes new elements: many of them are never used. */
bool candidates_reserve(struct candidates *c, size_t n)
{
	struct candidate *items;

	if (n > INT32_MAX || c->n > INT32_MAX - n)
		return false;
	if (c->n + n <= c->cap)
		return true;
	items = realloc(c->items, (c->n + n) * sizeof(*items));
	if (!items)
		return false;
	c->items = items;
	c->cap = c->n + n;
	return true;
}

bool candidates_add(struct candidates *c, const struct candidate *one)
{
	const struct mapped *strings = &c->tables[one->table].bytes;

	mapped_use(strings);
	if (one->name >= strings->n || !strings->p[one->name])
		return true;
	if (c->n == c->cap && !candidates_reserve(c, c->n + 64))
		return false;
	c->items[c->n++] = *one;
	return true;
}

enum { PIECE = 256 };

static uint32_t sum_of(const uint8_t *p, size_t n)
{
	return (uint32_t)hash_bytes(p, n);
}

static uint32_t *sum_pieces(const struct mapped *m)
{
	uint32_t *sums = malloc((m->n / PIECE + 1) * sizeof(*sums));

	for (size_t at = 0; sums && at < m->n; at += PIECE) {
		if (at && at % MAPPED_WINDOW == 0)
			mapped_relax(m);
		sums[at / PIECE] = sum_of(m->p + at, m->n - at < PIECE ? m->n - at : PIECE);
	}
	return sums;
}

bool candidates_add_mapped(struct candidates *c, struct mapped *strings, uint8_t *table)
{
	if (c->n_tables >= STRING_TABLES_MAX) {
		mapped_close(strings);
		return false;
	}
	*table = (uint8_t)c->n_tables;
	c->tables[c->n_tables++] = (struct string_table){ *strings, strings->region ? sum_pieces(strings) : NULL };
	return !strings->region || c->tables[*table].sums;
}

bool candidates_add_strings(struct candidates *c, char *bytes, size_t n, uint8_t *table)
{
	struct mapped strings;

	mapped_take(&strings, bytes, n);
	return candidates_add_mapped(c, &strings, table);
}

struct slice candidates_string(const struct candidates *c, uint8_t table, uint32_t offset)
{
	const struct mapped *strings = &c->tables[table].bytes;
	size_t left = offset < strings->n ? strings->n - offset : 0;

	if (left == 0)
		return (struct slice){ NULL, 0 };
	mapped_use(strings);
	return (struct slice){ strings->p + offset,
			       strnlen((const char *)strings->p + offset, left < SYMBOL_NAME_MAX ? left : SYMBOL_NAME_MAX) };
}

bool candidates_copy(const struct candidates *c, uint8_t table, uint32_t offset, struct buf *out)
{
	const struct string_table *t = &c->tables[table];
	struct slice name = candidates_string(c, table, offset);
	size_t before = t->sums ? offset % PIECE : 0, end = offset + name.n, n;

	buf_clear(out);
	if (t->sums) /* extend to the end of the piece that contains the NUL */
		end = t->bytes.n - end > PIECE ? (end / PIECE + 1) * PIECE : t->bytes.n;
	if (name.n == 0) /* there was a name when it was added */
		return false;
	buf_bytes(out, t->bytes.p + (offset - before), end - (offset - before));
	if (out->failed)
		return false;
	for (size_t at = 0; at < out->n && t->sums; at += PIECE) {
		n = out->n - at < PIECE ? out->n - at : PIECE;
		if (t->sums[(offset + at) / PIECE] != sum_of(out->p + at, n))
			return false;
	}
	n = strnlen((const char *)out->p + before, out->n - before);
	if (n != name.n && (n < name.n || name.n < SYMBOL_NAME_MAX)) /* it changed meanwhile */
		return false;
	memmove(out->p, out->p + before, name.n);
	out->n = name.n;
	return true;
}

size_t candidates_bytes(const struct candidates *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_tables; i++) {
		const struct mapped *m = &c->tables[i].bytes;

		n += mapped_bytes(m) + (c->tables[i].sums ? m->n / PIECE * sizeof(uint32_t) : 0);
	}
	return n;
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

/* Returns a negative value if a is the worse name. */
static int compare_names(const struct candidates *c, const struct candidate *a, const struct candidate *b)
{
	if (a->table == b->table && a->name == b->name)
		return 0;
	return prefer_name(candidates_bare(candidates_string(c, b->table, b->name)),
			   candidates_bare(candidates_string(c, a->table, a->name)));
}

/* Compares as candidates_sort orders. */
static int compare_candidates(const struct candidates *c, uint32_t ia, uint32_t ib)
{
	const struct candidate *a = &c->items[ia], *b = &c->items[ib];
	int by = compare_number(a->start, b->start);

	if (by)
		return by;
	if (a->unsized != b->unsized)
		return a->unsized ? -1 : 1;
	by = compare_number(b->end, a->end);
	if (!by)
		by = compare_number(b->rank, a->rank);
	return by ? by : compare_names(c, a, b);
}

static int compare_items(const void *a, const void *b, void *c)
{
	return compare_candidates(c, (uint32_t)*(const uint64_t *)a, (uint32_t)*(const uint64_t *)b);
}

/* Sorts by insertion: groups are usually small, such as a function's name in .symtab and .dynsym. */
static void sort_few(const struct candidates *c, uint64_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t one = order[i];
		size_t to = i;

		for (; to > 0 && compare_candidates(c, (uint32_t)order[to - 1], (uint32_t)one) > 0; to--)
			order[to] = order[to - 1];
		order[to] = one;
	}
}

/* Sorts by the highest 32 bits of the range of starts, which is nearly always all of them. */
static bool sort_roughly(struct candidates *c)
{
	uint64_t *order = malloc((c->n + 1) * sizeof(*order)), *spare = malloc((c->n + 1) * sizeof(*spare));
	uint64_t least = UINT64_MAX, most = 0;
	unsigned int shift = 0;

	if (!order || !spare) {
		free(order);
		free(spare);
		return false;
	}
	for (size_t i = 0; i < c->n; i++) {
		least = c->items[i].start < least ? c->items[i].start : least;
		most = c->items[i].start > most ? c->items[i].start : most;
	}
	while (c->n && (most - least) >> shift > UINT32_MAX)
		shift++;
	for (size_t i = 0; i < c->n; i++)
		order[i] = (c->items[i].start - least) >> shift << 32 | i;
	c->order = radix_sort_high(order, spare, c->n);
	c->spare = c->order == order ? spare : order;
	return true;
}

bool candidates_sort(struct candidates *c)
{
	enum { FEW = 16 };

	if (!sort_roughly(c))
		return false;
	for (size_t first = 0, last; first < c->n; first = last) {
		candidates_expect(c, first);
		for (last = first + 1; last < c->n && c->order[last] >> 32 == c->order[first] >> 32; last++)
			candidates_expect(c, last);
		if (last - first == 1)
			continue;
		if (last - first <= FEW)
			sort_few(c, c->order + first, last - first);
		else
			qsort_r(c->order + first, last - first, sizeof(*c->order), compare_items, c);
	}
	return true;
}
