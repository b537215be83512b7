/*
 * Tables for programs: the same rows as tab-separated text, as JSON lines, or as one JSON array.
 *
 *	static const char *const columns[] = { "name", "self", "share", NULL };
 *	struct rows r;
 *
 *	if (!rows_init(&r, ROWS_TSV, columns)) ...built without JSON...
 *	rows_text(&r, name);		// each row: a value for each column, in their order
 *	rows_count(&r, self);
 *	rows_number(&r, share);
 *	...r.out holds what is finished: write it and buf_clear it whenever you like...
 *	rows_end(&r);			// closes the array; then write r.out a last time
 *	if (r.failed) ...out of memory...
 *	rows_release(&r);
 *
 * The first line of TSV names the columns. A tab or a newline in a text becomes a space there, so a line is
 * a row and a tab is a border, as ClickHouse, DuckDB and sqlite read it without escapes; `\` stays itself.
 * Texts are valid UTF-8 (label.h sees to it); in JSON what is not becomes "?".
 */
#ifndef CPROF_EXPORT_ROWS_H
#define CPROF_EXPORT_ROWS_H

#include "common/base/buf.h"

enum rows_format { ROWS_TSV, ROWS_NDJSON, ROWS_JSON };

struct rows {
	enum rows_format format;
	const char *const *columns; /* lent; ended by NULL */
	size_t at, rows;            /* column that comes next; rows that are complete */
	struct buf out;
	bool failed; /* out of memory: nothing was added since */
};

/* "tsv", "ndjson" or "json"; false for any other word. */
bool rows_format_of(const char *word, enum rows_format *format);
/* False where this build has no JSON library and JSON was asked for. */
bool rows_init(struct rows *r, enum rows_format format, const char *const *columns);
void rows_text(struct rows *r, struct slice text);
void rows_count(struct rows *r, uint64_t v);
/* Six significant digits; what is not finite is null, in TSV nothing. */
void rows_number(struct rows *r, double v);
void rows_null(struct rows *r);
void rows_end(struct rows *r);
void rows_release(struct rows *r);

#endif
