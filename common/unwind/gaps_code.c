#include <stdlib.h>
#include <unistd.h>

#include "common/unwind/code.h"
#include "common/unwind/edges.h"
#include "common/unwind/functions.h"

enum {
	FOLLOWED_MAX = 1 << 22, /* bytes of one file: a fifth of a second. Assembly is less, C without tables may be more */
	/* More rows than this are not code but data: even functions that only push and pop have fewer. */
	ROWS_LEAST = 64, ROW_BYTES = 8,
};

struct code_gaps {
	const struct code_map *code;
	const struct edges *e;
};

/* Sets the file offset of a function, if all of it is in the file and in one gap. */
static bool find_function(const struct code_gaps *gaps, const struct function_range *r, uint64_t *offset)
{
	uint64_t n = r->end - r->start, left;

	return n <= CODE_FUNCTION_MAX && code_map_offset(gaps->code, r->start, offset, &left) && left >= n &&
	       gap_contains(gaps->e, *offset, *offset + n);
}

static bool is_in_gap(const void *arg, const struct function_range *r)
{
	uint64_t offset;

	return find_function(arg, r, &offset);
}

/* rows: with room, and emptied by this. */
static void add_function(struct spans *s, struct slice bytes, uint64_t offset, struct code_rows *rows)
{
	rows->n = 0;
	s->failed |= !code_rows(bytes, rows);
	if (s->failed || rows->n > ROWS_LEAST + bytes.n / ROW_BYTES)
		return;
	for (size_t i = 0; i < rows->n; i++) {
		const struct code_row *row = &rows->items[i];
		struct unwind_rule rule;

		if (!code_rule(&row->state, &rule))
			continue;
		rule.reg = UNWIND_FROM_CODE;
		rule.bx = UNWIND_LOST;
		spans_add(s, SPAN_CODE, offset + row->start, offset + row->end, &rule);
	}
}

void gap_code_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s)
{
	struct code_gaps gaps = { code, e };
	uint8_t *bytes = malloc(CODE_FUNCTION_MAX);
	struct function_list l = { 0 };
	struct code_rows rows = { 0 };
	uint64_t left = FOLLOWED_MAX, offset;

	s->failed |= !bytes || !functions_of_symbols(f, &l, is_in_gap, &gaps);
	for (size_t i = 0; i < l.n && !s->failed; i++) {
		uint64_t n = l.items[i].end - l.items[i].start;

		if (n > left)
			break;
		left -= n;
		if (find_function(&gaps, &l.items[i], &offset) && pread(f->fd, bytes, n, (off_t)offset) == (ssize_t)n)
			add_function(s, (struct slice){ bytes, n }, offset, &rows);
	}
	code_rows_release(&rows);
	functions_release(&l);
	free(bytes);
}
