#include <stdlib.h>
#include <unistd.h>

#include "common/base/search.h"
#include "common/unwind/code.h"
#include "common/unwind/edges.h"
#include "common/unwind/functions.h"

enum {
	FOLLOWED_MAX = 1 << 22, /* bytes of one file: 0.2 s, or 1 s of a hostile file. Only C without tables is more */
	/* More rows than this are not code but data: even functions that only push and pop have fewer. */
	ROWS_LEAST = 64, ROW_BYTES = 8,
	REGION_LEAST = 32, /* bytes: less is padding, or too little to judge */
};

struct code_gaps {
	const struct elf_file *f;
	const struct code_map *code;
	const struct edges *e;
	struct spans *s;
	struct function_list functions; /* in gaps */
	struct code_rows rows;
	uint8_t *bytes;
	uint64_t left; /* bytes that may still be followed */
};

/* Sets the file offset of a function, if all of it is in the file and in one gap. */
static bool find_function(const struct code_gaps *gaps, const struct function_range *r, uint64_t *offset)
{
	uint64_t n = r->end - r->start, left;

	return n <= CODE_MAX && code_map_offset(gaps->code, r->start, offset, &left) && left >= n &&
	       gap_contains(gaps->e, *offset, *offset + n);
}

static bool is_in_gap(const void *arg, const struct function_range *r)
{
	uint64_t offset;

	return find_function(arg, r, &offset);
}

/* Reads code at this file offset, unless it is too much. */
static bool read_code(struct code_gaps *gaps, uint64_t offset, uint64_t n)
{
	if (n > CODE_MAX || n > gaps->left || gaps->s->failed)
		return false;
	gaps->left -= n;
	gaps->rows.n = 0;
	return pread(gaps->f->fd, gaps->bytes, n, (off_t)offset) == (ssize_t)n;
}

/* Adds the rows' spans, for n bytes at this file offset. */
static void add_spans(struct code_gaps *gaps, uint64_t offset, uint64_t n)
{
	if (gaps->rows.n > ROWS_LEAST + n / ROW_BYTES)
		return;
	for (size_t i = 0; i < gaps->rows.n; i++) {
		const struct code_row *row = &gaps->rows.items[i];
		struct unwind_rule rule;

		if (!code_rule(&row->state, &rule))
			continue;
		rule.reg = UNWIND_FROM_CODE;
		rule.bx = UNWIND_LOST;
		spans_add(gaps->s, SPAN_CODE, offset + row->start, offset + row->end, &rule);
	}
}

static void add_function(struct code_gaps *gaps, const struct function_range *r)
{
	uint64_t n = r->end - r->start, offset;

	if (!find_function(gaps, r, &offset) || !read_code(gaps, offset, n))
		return;
	gaps->s->failed |= !code_rows((struct slice){ gaps->bytes, n }, &gaps->rows);
	add_spans(gaps, offset, n);
}

/* Follows code without symbols, in parts if there is much. */
static void add_region(struct code_gaps *gaps, uint64_t start, uint64_t end)
{
	for (uint64_t n; start < end && end - start >= REGION_LEAST; start += n) {
		n = end - start < CODE_MAX ? end - start : CODE_MAX;
		if (!read_code(gaps, start, n))
			return;
		gaps->s->failed |= !code_region_rows((struct slice){ gaps->bytes, n }, start, &gaps->rows);
		add_spans(gaps, start, n);
	}
}

/* Returns the first function that begins at this file offset or after it. */
static size_t function_after(const struct code_gaps *gaps, uint64_t start)
{
	uint64_t offset;

	return SEARCH_COUNT(gaps->functions.n, i, find_function(gaps, &gaps->functions.items[i], &offset) && offset < start);
}

/* Follows the code between the functions of a gap. */
static void visit_gap(void *arg, uint64_t start, uint64_t end)
{
	struct code_gaps *gaps = arg;
	uint64_t offset;

	for (size_t i = function_after(gaps, start); i < gaps->functions.n && start < end; i++) {
		const struct function_range *r = &gaps->functions.items[i];

		if (!find_function(gaps, r, &offset) || offset >= end || offset < start)
			break;
		add_region(gaps, start, offset);
		start = offset + (r->end - r->start);
	}
	add_region(gaps, start, end);
}

void gap_code_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s)
{
	struct code_gaps gaps = { .f = f, .code = code, .e = e, .s = s, .bytes = malloc(CODE_MAX), .left = FOLLOWED_MAX };

	s->failed |= !gaps.bytes || !functions_of_symbols(f, &gaps.functions, is_in_gap, &gaps);
	for (size_t i = 0; i < gaps.functions.n && !s->failed; i++)
		add_function(&gaps, &gaps.functions.items[i]);
	s->failed |= !s->failed && !gap_each(f, e, visit_gap, &gaps);
	code_rows_release(&gaps.rows);
	functions_release(&gaps.functions);
	free(gaps.bytes);
}
