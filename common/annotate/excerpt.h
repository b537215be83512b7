/*
 * The lines of a function's source around those with weight, one file after the other.
 *
 *	for (uint32_t at = 0; at < f->n; at = e.end) {
 *		excerpt_begin(&e, &sums, i, at, context);
 *		...e.file: read its text; e.text = &text if it was read...
 *		while (excerpt_next(&e, &row))
 *			...row.gap: lines were left out before; row.line, row.sum, row.text...
 *	}
 */
#ifndef CPROF_ANNOTATE_EXCERPT_H
#define CPROF_ANNOTATE_EXCERPT_H

#include "common/annotate/source_text.h"

struct excerpt {
	const struct line_sum *sums; /* lines in this file, ascending */
	uint32_t n;
	uint32_t end;	/* index among the function's lines after this file's */
	uint32_t file;	/* text; 0: unknown */
	uint32_t entry; /* line where the function begins; 0: unknown, or not in this file */
	uint32_t context;
	const struct source_text *text; /* NULL at first: only lines with weight, without text */
	uint64_t self, total;		/* sums over its lines */
	/* State of excerpt_next */
	uint32_t at, next; /* last line given out; index in sums */
	bool begun;
};

struct excerpt_row {
	uint32_t line;		    /* 0: samples of code without a line */
	const struct line_sum *sum; /* NULL: no sample has it */
	struct slice text;
	bool gap;
};

/* Begins with line first of function i, which is the first of its file. */
void excerpt_begin(struct excerpt *e, struct line_sums *sums, size_t i, uint32_t first, uint32_t context);
bool excerpt_next(struct excerpt *e, struct excerpt_row *row);
/* Returns whether a line with weight is after the end of the text: it is another version of the file. */
bool excerpt_is_beyond(const struct excerpt *e);

#endif
