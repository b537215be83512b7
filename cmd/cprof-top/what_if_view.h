/*
 * cprof-top --what-if: the question on the command line, and the answers as text, as rows or in a brief.
 *
 *	what_if_parse(&w, "parse_file=-50%");
 *	...read captures...
 *	what_if_text(&w, rows, &out);
 *
 * The functions for a brief (brief.h) leave its other sections to the caller.
 */
#ifndef CPROF_TOP_WHAT_IF_VIEW_H
#define CPROF_TOP_WHAT_IF_VIEW_H

#include "common/blame/what_if.h"
#include "common/export/output_rows.h"
#include "common/views/brief.h"

/* Parses FUNCTION=FACTOR; all else is a usage error. The function is a part of text, which is changed. */
void what_if_parse(struct what_if *w, char *text);
/* Both append; rows: the number shown, 0: all. Exit if out of memory. */
void what_if_text(const struct what_if *w, size_t rows, struct buf *out);
void what_if_rows(const struct what_if *w, size_t rows, enum rows_format format, struct buf *out);
/* The title of a brief, and a section with the rows: the first ones have the priority first, others later. */
void what_if_brief_title(const struct what_if *w, struct brief *b);
void what_if_brief(const struct what_if *w, size_t rows, size_t first, size_t later, struct brief *b);
/* Adds lines on samples, waits and assumptions. */
void what_if_brief_doubts(const struct what_if *w, size_t priority, struct brief *b);

#endif
