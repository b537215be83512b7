#include "common/export/output_rows.h"

#include <inttypes.h>
#include <math.h>

#include "common/export/json.h"

bool rows_format_of(const char *word, enum rows_format *format)
{
	static const char *const words[] = { [ROWS_TSV] = "tsv", [ROWS_NDJSON] = "ndjson", [ROWS_JSON] = "json" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*format = (enum rows_format)i;
			return true;
		}
	}
	return false;
}

bool rows_init(struct rows *r, enum rows_format format, const char *const *columns)
{
	*r = (struct rows){ .format = format, .columns = columns };
	for (size_t i = 0; format == ROWS_TSV && columns[i]; i++) {
		buf_text(&r->out, i ? "\t" : "");
		buf_text(&r->out, columns[i]);
	}
	buf_text(&r->out, format == ROWS_TSV ? "\n" : format == ROWS_JSON ? "[" : "");
	return format == ROWS_TSV || json_known();
}

/* Writes the separator or the row's beginning, and the column's name. */
static void begin_value(struct rows *r)
{
	if (r->format == ROWS_TSV) {
		buf_text(&r->out, r->at ? "\t" : "");
		return;
	}
	if (r->at == 0)
		buf_text(&r->out, r->format == ROWS_NDJSON ? "{" : r->rows ? ",\n{" : "\n{");
	else
		buf_byte(&r->out, ',');
	json_text(&r->out, slice_of(r->columns[r->at]));
	buf_byte(&r->out, ':');
}

static void end_value(struct rows *r)
{
	if (!r->columns[++r->at]) {
		buf_text(&r->out, r->format == ROWS_TSV ? "\n" : r->format == ROWS_NDJSON ? "}\n" : "}");
		r->at = 0;
		r->rows++;
	}
	r->failed = r->failed || r->out.failed;
}

static void plain_text(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		buf_byte(out, text.p[i] < 0x20 ? ' ' : text.p[i]);
}

void rows_text(struct rows *r, struct slice text)
{
	begin_value(r);
	if (r->format == ROWS_TSV)
		plain_text(&r->out, text);
	else
		json_text(&r->out, text);
	end_value(r);
}

void rows_count(struct rows *r, uint64_t v)
{
	begin_value(r);
	buf_printf(&r->out, "%" PRIu64, v);
	end_value(r);
}

void rows_number(struct rows *r, double v)
{
	begin_value(r);
	if (r->format != ROWS_TSV)
		json_number(&r->out, v);
	else if (isfinite(v))
		buf_printf(&r->out, "%.6g", v);
	end_value(r);
}

void rows_null(struct rows *r)
{
	begin_value(r);
	buf_text(&r->out, r->format == ROWS_TSV ? "" : "null");
	end_value(r);
}

void rows_end(struct rows *r)
{
	if (r->format == ROWS_JSON)
		buf_text(&r->out, "\n]\n");
	r->failed = r->failed || r->out.failed;
}

void rows_release(struct rows *r)
{
	buf_release(&r->out);
}
