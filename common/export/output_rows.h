/*
 * Tables for programs: the same rows as tab-separated text, as JSON lines, or as one JSON array.
 *
 *	static const char *const columns[] = { "name", "self", "share", NULL };
 *	struct rows r;
 *
 *	if (!rows_init(&r, ROWS_TSV, columns)) ...built without JSON...
 *	rows_text(&r, name);		// for each row: one value for each column, in order
 *	rows_count(&r, self);
 *	rows_number(&r, share);
 *	...r.out holds the finished part: write it and buf_clear it at any time...
 *	rows_end(&r);			// closes the array; then write r.out a last time
 *	if (r.failed) ...out of memory...
 *	rows_release(&r);
 *
 * The first line of TSV names the columns. Control characters in a text become spaces there, so a line is a
 * row and a tab is a separator, as ClickHouse, DuckDB and sqlite read it without escapes; `\` stays
 * unchanged. Texts are valid UTF-8 (sanitize.h ensures it); in JSON, an invalid text is written as json_text
 * does.
 */
#ifndef CPROF_EXPORT_OUTPUT_ROWS_H
#define CPROF_EXPORT_OUTPUT_ROWS_H

#include "common/base/buf.h"

enum rows_format { ROWS_TSV, ROWS_NDJSON, ROWS_JSON };

struct rows {
	enum rows_format format;
	const char *const *columns; /* the caller's; ended by NULL */
	size_t at, rows;            /* the next column; complete rows */
	struct buf out;
	bool failed; /* out of memory; out is incomplete */
};

/* Accepts "tsv", "ndjson" or "json"; returns false for any other word. */
bool rows_format_of(const char *word, enum rows_format *format);
/* Returns false if JSON was asked for but this build has no JSON library. */
bool rows_init(struct rows *r, enum rows_format format, const char *const *columns);
void rows_text(struct rows *r, struct slice text);
void rows_count(struct rows *r, uint64_t v);
/* Writes six significant digits; if v is not finite, null in JSON and nothing in TSV. */
void rows_number(struct rows *r, double v);
void rows_null(struct rows *r);
void rows_end(struct rows *r);
void rows_release(struct rows *r);

#endif
