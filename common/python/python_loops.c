#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/python/python_internal.h"
#include "common/unwind/function_parts.h"

enum { PADDING = 16, GAP_MOST = 4096, RANGES_MOST = 1024 };

/*
 * The loop consists of its function and of those that the compiler made of it. They are found by their names;
 * in stripped files, only parts are found, by the branches to and from them. gcc 16 puts nearly all of the
 * loop into such a part, because the profiles of Debian's builds lack it: 84 KB of 85.
 */
struct ranges {
	struct function_range *items;
	size_t n, cap;
};

struct named {
	struct ranges same, called; /* parts and copies of the function; functions that it calls */
};

static void add_range(struct ranges *r, const struct runtime_symbol *s)
{
	if (r->n == RANGES_MOST || !s->value || !s->size || s->size > UINT32_MAX || s->value > UINT64_MAX / 2)
		return;
	if (extend_array(&r->items, &r->cap, r->n, sizeof(*r->items)))
		r->items[r->n++] = (struct function_range){ s->value, s->value + s->size };
}

/* From 3.14 on, a compiler that guarantees tail calls makes a function of each instruction. */
static void take_name(void *arg, const struct runtime_symbol *s)
{
	static const char loop[] = "_PyEval_EvalFrameDefault.", tail[] = "_TAIL_CALL_";
	struct named *n = arg;

	if (strncmp(s->name, tail, sizeof(tail) - 1) == 0)
		add_range(&n->called, s);
	else if (strncmp(s->name, loop, sizeof(loop) - 1) == 0)
		add_range(strstr(s->name, ".part.") && !strstr(s->name, ".cold") ? &n->called : &n->same, s);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t gap_before(const struct ranges *r, size_t i)
{
	return r->items[i].start > r->items[i - 1].end ? r->items[i].start - r->items[i - 1].end : 0;
}

/* Returns the range whose gap before it is smallest. */
static size_t closest_range(const struct ranges *r)
{
	size_t best = 1;

	for (size_t i = 2; i < r->n; i++)
		best = gap_before(r, i) < gap_before(r, best) ? i : best;
	return best;
}

/* Joins a range with the one before it. */
static void join_range(struct ranges *r, size_t i)
{
	if (r->items[i].end > r->items[i - 1].end)
		r->items[i - 1].end = r->items[i].end;
	memmove(r->items + i, r->items + i + 1, (r->n - i - 1) * sizeof(*r->items));
	r->n--;
}

/*
 * Joins ranges with nothing but padding between them, and then others until there are at most `most`.
 * Functions between joined ranges count as theirs, so ranges far from each other are not joined, and those
 * too many left out.
 */
static void join_ranges(struct ranges *r, size_t most)
{
	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), compare_ranges);
	while (r->n > 1) {
		size_t i = closest_range(r);
		uint64_t gap = gap_before(r, i);

		if (gap > GAP_MOST || (gap > PADDING && r->n <= most))
			break;
		join_range(r, i);
	}
}

static size_t add_ranges(const struct elf_file *f, struct lang_image *image, struct ranges *r, size_t most)
{
	size_t first = LANG_LOOPS;

	join_ranges(r, most);
	for (size_t i = 0; i < r->n && i < most; i++) {
		size_t at = runtime_add_loop(f, image, r->items[i].start, r->items[i].end);

		first = at < first ? at : first;
	}
	return first;
}

static void add_parts(const struct elf_file *f, struct lang_image *image, uint64_t loop)
{
	struct function_range parts[LANG_LOOPS - 1];
	struct function_list l;
	size_t n;

	if (!functions_read(f, &l))
		return;
	n = function_parts(f, &l, loop, parts, LANG_LOOPS - 1);
	for (size_t i = 0; i < n; i++)
		runtime_add_loop(f, image, parts[i].start, parts[i].end);
	functions_release(&l);
}

bool python_loops(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *loop)
{
	struct named n = { { 0 }, { 0 } };
	size_t called;

	if (loop->size > UINT32_MAX || loop->value > UINT64_MAX / 2 ||
	    runtime_add_loop(f, image, loop->value, loop->value + loop->size) != 0)
		return false;
	runtime_each_symbol(f, take_name, &n);
	if (n.same.n)
		add_ranges(f, image, &n.same, n.called.n ? 1 : LANG_LOOPS - 1);
	else
		add_parts(f, image, loop->value);
	called = add_ranges(f, image, &n.called, LANG_LOOPS);
	image->at[PY_LOOP_CALLED] = called < LANG_LOOPS ? (uint32_t)called + 1 : 0;
	free(n.same.items);
	free(n.called.items);
	return true;
}
