#include <inttypes.h>
#include <stdio.h>

#include "cmd/cprof-annotate/annotate.h"

enum { TEXT_MOST = 400 }; /* bytes of a line that are shown */

/* Says where the text is from, why it is missing, or that it may not be the one that ran. */
static void note_source(struct annotate *a, const struct excerpt *e, const struct source_text *text,
			enum source_text_result why, const struct source_origin *origin,
			const struct code_origin *code)
{
	struct slice path = line_sums_text(&a->sums, e->file);
	struct buf note = { 0 };

	if (why == SOURCE_TEXT_NO_NAME)
		sheet_note(&a->sheet, "source: %s", source_text_why(why));
	else
		sheet_note(&a->sheet, "source: %.*s", (int)path.n, (const char *)path.p);
	if (why == SOURCE_TEXT_READ && !slice_equal(buf_view(&text->path), path))
		sheet_note(&a->sheet, "  read from %.*s", (int)text->path.n, (const char *)text->path.p);
	source_note_append(&note, e, text, why, origin, code, (int64_t)a->started);
	if (note.n && why != SOURCE_TEXT_NO_NAME)
		sheet_note(&a->sheet, "  %s", buf_cstr(&note));
	buf_release(&note);
}

static uint64_t most_of(const struct excerpt *e)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < e->n; i++)
		most = e->sums[i].total > most ? e->sums[i].total : most;
	return most;
}

static void show_rows(struct annotate *a, struct excerpt *e)
{
	struct sheet_row row = { .most = most_of(e) };
	struct buf text = { 0 };
	struct excerpt_row got;
	char label[24];

	sheet_table(&a->sheet, "line");
	while (excerpt_next(e, &got)) {
		if (got.gap)
			sheet_gap(&a->sheet);
		snprintf(label, sizeof(label), "%" PRIu32, got.line);
		buf_clear(&text);
		source_text_plain(&text, got.line ? got.text : slice_of("(code without a line)"), TEXT_MOST);
		row.label = got.line ? label : "-";
		row.text = buf_view(&text);
		row.weighs = got.sum;
		row.self = got.sum ? got.sum->self : 0;
		row.total = got.sum ? got.sum->total : 0;
		sheet_row(&a->sheet, &row);
	}
	sheet_table_end(&a->sheet);
	buf_release(&text);
}

void annotate_source(struct annotate *a, size_t i)
{
	const struct function_sum *f = &a->sums.functions[i];
	struct source_text text = { 0 };
	struct excerpt e;

	for (uint32_t at = 0; at < f->n; at = e.end) {
		struct source_origin origin;
		struct code_origin code;
		enum source_text_result why;

		excerpt_begin(&e, &a->sums, i, at, a->context);
		origin = line_sums_origin(&a->sums, e.file);
		code = line_files_origin(a->files, origin.mapping);
		why = source_text_read(&text, &a->rules, line_sums_text(&a->sums, e.file), &origin, &code);
		if (why == SOURCE_TEXT_NO_MEMORY)
			cli_no_memory();
		e.text = why == SOURCE_TEXT_READ ? &text : NULL;
		note_source(a, &e, &text, why, &origin, &code);
		show_rows(a, &e);
	}
	source_text_release(&text);
}
