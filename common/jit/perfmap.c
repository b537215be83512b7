#include "common/jit/perfmap.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/search.h"

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a hexadecimal number and the blanks after it. */
static bool parse_hex(struct cursor *c, uint64_t *v)
{
	const uint8_t *digits;

	if (cursor_left(c) > 2 && c->p[0] == '0' && (c->p[1] | 0x20) == 'x')
		c->p += 2;
	digits = c->p;
	for (*v = 0; c->p < c->end && hex_digit(*c->p) >= 0; c->p++) {
		if (*v >> 60)
			return false;
		*v = *v << 4 | (uint64_t)hex_digit(*c->p);
	}
	if (c->p == digits || (c->p < c->end && *c->p != ' ' && *c->p != '\t'))
		return false;
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
	return true;
}

static bool parse_line(struct slice line, struct perfmap_entry *e)
{
	struct cursor c = cursor_over(line.p, line.n);
	uint64_t size;

	if (!parse_hex(&c, &e->start) || !parse_hex(&c, &size) || size == 0 || e->start + size < e->start)
		return false;
	while (c.end > c.p && (c.end[-1] == '\r' || c.end[-1] == ' '))
		c.end--;
	e->base = e->start;
	e->end = e->start + size;
	e->name = c.p;
	e->name_n = (uint32_t)(cursor_left(&c) < PERFMAP_NAME_MAX ? cursor_left(&c) : PERFMAP_NAME_MAX);
	return true;
}

static struct perfmap_entry *put_piece(struct perfmap_entry *to, const struct perfmap_entry *e,
				       uint64_t start, uint64_t end)
{
	if (start >= end)
		return to;
	*to = *e;
	to->start = start;
	to->end = end;
	return to + 1;
}

/*
 * Merges old and new into out, new ones covering old ones; returns the number of entries. A new entry can
 * split an old one in two, so out needs room for n_old + 2 * n_new.
 */
static size_t overlay(struct perfmap_entry *out, const struct perfmap_entry *old, size_t n_old,
		      const struct perfmap_entry *new, size_t n_new)
{
	struct perfmap_entry *to = out;
	uint64_t from = 0; /* the rest of old[i] begins here or later */
	size_t i = 0;

	for (size_t j = 0; j < n_new; j++) {
		for (; i < n_old && old[i].end <= new[j].start; i++)
			to = put_piece(to, &old[i], old[i].start > from ? old[i].start : from, old[i].end);
		if (i < n_old)
			to = put_piece(to, &old[i], old[i].start > from ? old[i].start : from, new[j].start);
		to = put_piece(to, &new[j], new[j].start, new[j].end);
		from = new[j].end;
		while (i < n_old && old[i].end <= from)
			i++;
	}
	for (; i < n_old; i++)
		to = put_piece(to, &old[i], old[i].start > from ? old[i].start : from, old[i].end);
	return (size_t)(to - out);
}

/* Sorts entries that are in order of time: each half, then the later half over the earlier. */
static size_t flatten(struct perfmap_entry *items, size_t n, struct perfmap_entry *spare)
{
	size_t half = n / 2, left, right, both;

	if (n < 2)
		return n;
	/* Each half may double, and has the room: items and spare hold 2 * n + 1. */
	memmove(items + 2 * half, items + half, (n - half) * sizeof(*items));
	left = flatten(items, half, spare);
	right = flatten(items + 2 * half, n - half, spare);
	both = overlay(spare, items, left, items + 2 * half, right);
	memcpy(items, spare, both * sizeof(*items));
	return both;
}

bool perfmap_run_sort(struct perfmap_run *run, size_t n)
{
	struct perfmap_entry *spare, *bigger;

	if (n == 0)
		return true;
	spare = malloc((3 * n + 1) * sizeof(*spare));
	bigger = realloc(run->items, (3 * n + 1) * sizeof(*bigger));
	run->items = bigger ? bigger : run->items;
	if (spare && bigger)
		run->n = flatten(run->items, n, spare);
	free(spare);
	return spare && bigger;
}

bool perfmap_parse(struct perfmap_run *run, struct slice chunk)
{
	size_t cap = 0, n = 0;
	const uint8_t *p, *end;

	*run = (struct perfmap_run){ .text = malloc(chunk.n + 1) };
	if (!run->text)
		return false;
	if (chunk.n)
		memcpy(run->text, chunk.p, chunk.n);
	for (p = run->text, end = p + chunk.n; p < end; p++) {
		const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
		const uint8_t *stop = newline ? newline : end;

		if (!grow_array(&run->items, &cap, n, sizeof(*run->items)))
			return false;
		n += parse_line((struct slice){ p, (size_t)(stop - p) }, &run->items[n]);
		p = stop;
	}
	return perfmap_run_sort(run, n);
}

static const struct perfmap_entry *find_covering(const struct perfmap_run *run, uint64_t address)
{
	size_t low = SEARCH_COUNT(run->n, mid, run->items[mid].end <= address);

	return low < run->n && run->items[low].start <= address ? &run->items[low] : NULL;
}

static bool hit_of(const struct perfmap_entry *e, struct perfmap_hit *hit)
{
	if (!e || e->name_n == 0)
		return false;
	*hit = (struct perfmap_hit){ e->base, { e->name, e->name_n } };
	return true;
}

bool perfmap_run_find(const struct perfmap_run *run, uint64_t address, struct perfmap_hit *hit)
{
	return hit_of(find_covering(run, address), hit);
}

bool perfmap_find(const struct perfmap *map, uint64_t address, struct perfmap_hit *hit)
{
	for (size_t i = map->n; i-- > 0;) {
		const struct perfmap_entry *e = find_covering(&map->runs[i], address);

		if (e)
			return hit_of(e, hit);
	}
	return false;
}

void perfmap_run_release(struct perfmap_run *run)
{
	free(run->items);
	free(run->text);
	*run = (struct perfmap_run){ 0 };
}

/* Merges the last two runs into one. */
static bool merge_last(struct perfmap *map)
{
	struct perfmap_run *older = &map->runs[map->n - 2], *newer = older + 1;
	struct perfmap_entry *both = malloc((older->n + 2 * newer->n + 1) * sizeof(*both));

	if (!both)
		return false;
	older->n = overlay(both, older->items, older->n, newer->items, newer->n);
	free(older->items);
	free(newer->items);
	older->items = both;
	map->n--;
	return true;
}

bool perfmap_push(struct perfmap *map, struct perfmap_run *run)
{
	if (run->n == 0 || !grow_array(&map->runs, &map->cap, map->n, sizeof(*map->runs)) ||
	    !grow_array(&map->texts, &map->cap_texts, map->n_texts, sizeof(*map->texts))) {
		bool empty = run->n == 0;

		perfmap_run_release(run);
		return empty;
	}
	if (run->text)
		map->texts[map->n_texts++] = run->text;
	map->runs[map->n++] = (struct perfmap_run){ run->items, run->n, NULL };
	*run = (struct perfmap_run){ 0 };
	while (map->n > 1 && map->runs[map->n - 2].n < 2 * map->runs[map->n - 1].n) {
		if (!merge_last(map))
			return false;
	}
	return true;
}

bool perfmap_put(struct perfmap *map, const struct perfmap_entry *items, size_t n)
{
	struct perfmap_run run = { 0 };

	if (n == 0)
		return true;
	run.items = malloc(n * sizeof(*items));
	if (run.items)
		memcpy(run.items, items, n * sizeof(*items));
	if (run.items && perfmap_run_sort(&run, n))
		return perfmap_push(map, &run);
	perfmap_run_release(&run);
	return false;
}

void perfmap_release(struct perfmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		free(map->runs[i].items);
	for (size_t i = 0; i < map->n_texts; i++)
		free(map->texts[i]);
	free(map->runs);
	free(map->texts);
	*map = (struct perfmap){ 0 };
}
