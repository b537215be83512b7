#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-annotate/annotate.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/flame/markup.h"
#include "common/profile/sanitize.h"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			   "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n"
			   "<meta name=\"referrer\" content=\"no-referrer\">\n";

static const char style[] =
	"<style>\n"
	":root { --back: #fff; --text: #1b1f24; --dim: #59616a; --line: #dfe3e8;\n"
	"\t--hot: #ffd9d0; --warm: #fff1cc; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"\t:root { --back: #14171b; --text: #e4e8ec; --dim: #a2abb4; --line: #2d333a;\n"
	"\t\t--hot: #5c2219; --warm: #44370f; }\n"
	"}\n"
	"body { margin: 16px; background: var(--back); color: var(--text);\n"
	"\tfont: 14px/1.45 system-ui, sans-serif; }\n"
	"h1 { font-size: 17px; }\n"
	"h2 { font-size: 15px; margin: 24px 0 4px; overflow-wrap: anywhere; }\n"
	"p { margin: 2px 0; color: var(--dim); white-space: pre-wrap; overflow-wrap: anywhere; }\n"
	".wide { overflow-x: auto; }\n"
	"table { border-collapse: collapse; margin: 6px 0 12px; }\n"
	"table { font: 12.5px/1.4 ui-monospace, monospace; }\n"
	"th { text-align: left; font-weight: 600; color: var(--dim); }\n"
	"th:not(:last-child) { text-align: right; }\n"
	"th { border-bottom: 1px solid var(--line); }\n"
	"th, td { padding: 0 10px 0 0; white-space: pre; vertical-align: top; }\n"
	"td.n { text-align: right; font-variant-numeric: tabular-nums; color: var(--dim); }\n"
	"td.w { color: var(--text); }\n"
	"tr.hot td { background: var(--hot); } tr.warm td { background: var(--warm); }\n"
	"tr.hot td.n, tr.warm td.n { color: var(--text); } tr.src td { color: var(--dim); }\n"
	"@media print { td { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }\n"
	"</style>\n";

static void add_text(struct sheet *s, struct slice text)
{
	struct buf shown = { 0 };

	sanitize_append_shown(&shown, text);
	s->out.failed |= shown.failed;
	if (s->html)
		markup_escape(&s->out, buf_view(&shown));
	else
		buf_bytes(&s->out, shown.p, shown.n);
	buf_release(&shown);
}

void sheet_begin(struct sheet *s, const char *title)
{
	s->colour = !s->html && colour_on();
	if (!s->html)
		return;
	buf_text(&s->out, head);
	buf_text(&s->out, style);
	buf_text(&s->out, "<title>");
	add_text(s, slice_of(title));
	buf_text(&s->out, "</title>\n</head>\n<body>\n<h1>");
	add_text(s, slice_of(title));
	buf_text(&s->out, "</h1>\n");
}

static double percent_of(const struct sheet *s, uint64_t part)
{
	return s->sum ? 100 * (double)part / (double)s->sum : 0;
}

/* Appends "1234 samples", or nanoseconds as seconds. */
static void add_weight(struct sheet *s, uint64_t weight)
{
	if (strcmp(s->unit, "ns") == 0)
		buf_printf(&s->out, "%.3f s", (double)weight / 1e9);
	else
		buf_printf(&s->out, "%" PRIu64 " %s", weight, s->unit);
}

void sheet_title(struct sheet *s, struct slice name, struct slice module, uint64_t self, uint64_t total)
{
	if (s->html)
		buf_text(&s->out, "<h2>");
	else if (s->out.n)
		buf_byte(&s->out, '\n');
	add_text(s, name);
	if (module.n) {
		buf_text(&s->out, " in ");
		add_text(s, module);
	}
	buf_text(&s->out, s->html ? "</h2>\n<p>" : "\n  ");
	buf_printf(&s->out, "self %.2f %% (", percent_of(s, self));
	add_weight(s, self);
	buf_printf(&s->out, "), with callees %.2f %% (", percent_of(s, total));
	add_weight(s, total);
	buf_text(&s->out, ") of ");
	add_weight(s, s->sum);
	buf_text(&s->out, s->html ? "</p>\n" : "\n");
}

void sheet_note(struct sheet *s, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		cli_no_memory();
	va_end(ap);
	buf_text(&s->out, s->html ? "<p>" : "  ");
	add_text(s, slice_of(text));
	buf_text(&s->out, s->html ? "</p>\n" : "\n");
	free(text);
}

static void begin_table(struct sheet *s, const char *label, const char *text)
{
	s->in_table = true;
	if (s->html)
		buf_printf(&s->out,
			   "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"shares\"><table>\n<tr><th scope=\"col\">self<th scope=\"col\">callees"
			   "<th scope=\"col\">%s<th scope=\"col\">%s\n",
			   label, text);
}

void sheet_table(struct sheet *s, const char *label)
{
	begin_table(s, label, "text");
	if (!s->html)
		buf_printf(&s->out, "\n    self  callees  %8s\n", label);
}

void sheet_functions(struct sheet *s)
{
	begin_table(s, "source", "function");
	if (!s->html)
		buf_text(&s->out, "    self  callees   source  function\n");
}

/* Returns the row's colour on a terminal, or "". */
static const char *heat_of(const struct sheet_row *row)
{
	return row->weighs ? colour_of(row->by_self ? row->self : row->total, row->most) : "";
}

static const char *class_of(const struct sheet_row *row)
{
	const char *heat = heat_of(row);

	if (row->source)
		return "src";
	return strcmp(heat, COLOUR_HOT) == 0 ? "hot" : heat[0] ? "warm" : "";
}

static void put_page_row(struct sheet *s, const struct sheet_row *row)
{
	buf_printf(&s->out, "<tr class=\"%s\"><td class=\"n w\">", class_of(row));
	if (row->weighs && row->self)
		buf_printf(&s->out, "%.2f %%", percent_of(s, row->self));
	buf_text(&s->out, "<td class=\"n w\">");
	if (row->weighs)
		buf_printf(&s->out, "%.2f %%", percent_of(s, row->total));
	buf_printf(&s->out, "<td class=\"n\">%s<td>", row->label);
	markup_escape(&s->out, row->text);
	buf_byte(&s->out, '\n');
}

/* Spaces stand at the end of no line. */
static void trim_line(struct buf *out)
{
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
	buf_byte(out, '\n');
}

void sheet_row(struct sheet *s, const struct sheet_row *row)
{
	const char *heat = heat_of(row);

	if (s->html) {
		put_page_row(s, row);
		return;
	}
	if (s->colour)
		buf_text(&s->out, heat);
	if (row->weighs && row->self)
		buf_printf(&s->out, "%7.2f%%", percent_of(s, row->self));
	else
		buf_text(&s->out, "        ");
	if (row->weighs)
		buf_printf(&s->out, " %7.2f%%", percent_of(s, row->total));
	else
		buf_text(&s->out, "         ");
	buf_printf(&s->out, "  %7s  ", row->label);
	buf_bytes(&s->out, row->text.p, row->text.n);
	if (s->colour && heat[0])
		buf_text(&s->out, COLOUR_PLAIN);
	trim_line(&s->out);
}

void sheet_gap(struct sheet *s)
{
	buf_text(&s->out, s->html ? "<tr class=\"src\"><td><td><td class=\"n\">…<td>\n"
				  : "                         ...\n");
}

void sheet_table_end(struct sheet *s)
{
	if (s->in_table)
		buf_text(&s->out, s->html ? "</table></div>\n" : "\n");
	s->in_table = false;
}

void sheet_end(struct sheet *s)
{
	if (s->html)
		buf_text(&s->out, "</body>\n</html>\n");
	if (s->out.failed)
		cli_no_memory();
	fwrite(s->out.p, 1, s->out.n, stdout);
	buf_release(&s->out);
	cli_stdout_done();
}
