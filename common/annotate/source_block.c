#include "common/annotate/source_block.h"

enum { LINE_MOST = 300, HAS_WEIGHT = 1, HAS_GAP = 2 };

void source_note_append(struct buf *out, const struct excerpt *e, const struct source_text *text,
			enum source_text_result why, const struct source_origin *origin,
			const struct code_origin *code, int64_t started)
{
	int64_t ran = origin->mapping ? code->written : started;

	if (why != SOURCE_TEXT_READ)
		buf_printf(out, "not shown: %s", source_text_why(why));
	else if (excerpt_is_beyond(e))
		buf_printf(out, "caution: it has only %zu lines: this is another version", text->n_lines);
	else if (ran && text->written > ran)
		buf_printf(out, "caution: it was written after the %s, so lines may have moved",
			   origin->mapping ? "program" : "capture");
	else if (origin->mapping && origin->trust == CODE_BY_PATH)
		buf_text(out, "caution: the program has no build ID, only its path identifies it");
}

static void append_rows(struct buf *out, struct excerpt *e)
{
	struct buf rows = { 0 }, text = { 0 };
	struct excerpt_row row;
	uint64_t n = 0;

	for (; excerpt_next(e, &row); n++) {
		buf_varint(&rows, row.line);
		buf_varint(&rows, (row.sum ? HAS_WEIGHT : 0) | (row.gap ? HAS_GAP : 0));
		if (row.sum) {
			buf_varint(&rows, row.sum->self);
			buf_varint(&rows, row.sum->total);
		}
		buf_clear(&text);
		source_text_plain(&text, row.text, LINE_MOST);
		buf_slice(&rows, buf_view(&text));
	}
	buf_varint(out, n);
	buf_bytes(out, rows.p, rows.n);
	out->failed |= rows.failed || text.failed;
	buf_release(&rows);
	buf_release(&text);
}

/* Appends one file of function i, and returns the index of the next one's first line. */
static uint32_t append_file(struct buf *out, struct line_sums *sums, const struct source_rules *rules,
			    size_t i, uint32_t first)
{
	struct source_text text = { 0 };
	struct source_origin origin;
	enum source_text_result why;
	struct code_origin code;
	struct buf note = { 0 };
	struct excerpt e;

	excerpt_begin(&e, sums, i, first, SOURCE_CONTEXT);
	origin = line_sums_origin(sums, e.file);
	code = line_files_origin(sums->files, origin.mapping);
	why = source_text_read(&text, rules, line_sums_text(sums, e.file), &origin, &code);
	e.text = why == SOURCE_TEXT_READ ? &text : NULL;
	source_note_append(&note, &e, &text, why, &origin, &code,
			   (int64_t)(sums->traces->start_realtime_ns / 1000000000));
	buf_slice(out, line_sums_text(sums, e.file));
	buf_slice(out, buf_view(&note));
	append_rows(out, &e);
	out->failed |= note.failed || why == SOURCE_TEXT_NO_MEMORY;
	buf_release(&note);
	source_text_release(&text);
	return e.end;
}

static void append_function(struct buf *out, struct line_sums *sums, const struct source_rules *rules,
			    size_t i)
{
	const struct function_sum *f = &sums->functions[i];
	struct buf files = { 0 };
	uint64_t n = 0;

	for (uint32_t at = 0; at < f->n; n++)
		at = append_file(&files, sums, rules, i, at);
	buf_slice(out, line_sums_text(sums, f->name));
	buf_slice(out, line_sums_text(sums, f->module));
	buf_varint(out, f->self);
	buf_varint(out, f->total);
	buf_varint(out, n);
	buf_bytes(out, files.p, files.n);
	out->failed |= files.failed;
	buf_release(&files);
}

bool source_block_append(struct buf *out, struct line_sums *sums, const struct source_rules *rules)
{
	struct buf all = { 0 }, one = { 0 };
	uint64_t n = 0;

	for (size_t i = 0; i < sums->n && n < SOURCE_FUNCTIONS_MOST; i++) {
		if (sums->functions[i].total < sums->sum / SOURCE_SHARE || !sums->functions[i].total ||
		    !line_sums_has_lines(sums, i))
			continue;
		buf_clear(&one);
		append_function(&one, sums, rules, i);
		if (all.n + one.n > SOURCE_BLOCK_MOST)
			continue;
		buf_bytes(&all, one.p, one.n);
		n++;
	}
	buf_varint(out, sums->sum);
	buf_varint(out, n);
	buf_bytes(out, all.p, all.n);
	out->failed |= all.failed || one.failed;
	buf_release(&all);
	buf_release(&one);
	return !out->failed;
}
