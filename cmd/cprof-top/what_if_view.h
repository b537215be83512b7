/*
 * cprof-top --what-if: the question on the command line, and the answers as text or as rows.
 *
 *	what_if_parse(&w, "parse_file=-50%");
 *	...read captures...
 *	what_if_text(&w, rows, &out);
 */
#ifndef CPROF_TOP_WHAT_IF_VIEW_H
#define CPROF_TOP_WHAT_IF_VIEW_H

#include "common/blame/what_if.h"
#include "common/export/output_rows.h"

/* Parses FUNCTION=FACTOR; all else is a usage error. The function is a part of text, which is changed. */
void what_if_parse(struct what_if *w, char *text);
/* Both append; rows: the number shown, 0: all. Exit if out of memory. */
void what_if_text(const struct what_if *w, size_t rows, struct buf *out);
void what_if_rows(const struct what_if *w, size_t rows, enum rows_format format, struct buf *out);

#endif
