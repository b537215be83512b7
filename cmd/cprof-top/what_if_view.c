#include "cmd/cprof-top/what_if_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/shared/cli.h"

/* Returns the saved share of "-50%", "0.5x" or "off"; a negative number for anything else. */
static double parse_factor(const char *text)
{
	bool percent = text[0] == '-';
	double v;
	char *end;

	if (strcmp(text, "off") == 0)
		return 1;
	if (strspn(text + percent, "0123456789.") == 0)
		return -1;
	v = strtod(text + percent, &end);
	if (strcmp(end, percent ? "%" : "x") != 0)
		return -1;
	return percent ? v / 100 : 1 - v;
}

void what_if_parse(struct what_if *w, char *text)
{
	char *equal = strrchr(text, '=');

	w->share = equal ? parse_factor(equal + 1) : -1;
	if (!equal || equal == text || !(w->share > 0 && w->share <= 1))
		cli_usage("invalid --what-if \"%s\" (expected FUNCTION=-50%%, FUNCTION=0.5x or FUNCTION=off)",
			  text);
	*equal = '\0';
	w->function = text;
}

static void put_time(struct buf *out, int width, double ns)
{
	const char *unit = ns >= 1e9 ? "s" : ns >= 1e6 ? "ms" : "us";
	char text[32];

	snprintf(text, sizeof(text), "%.2f%s", ns / (ns >= 1e9 ? 1e9 : ns >= 1e6 ? 1e6 : 1e3), unit);
	buf_printf(out, "%*s", width, text);
}

static double percent_of(const struct what_if_row *row, double ns)
{
	return row->wall ? 100 * ns / (double)row->wall : 0;
}

static size_t count_shown(const struct what_if *w, size_t rows)
{
	return rows && rows < w->n ? rows : w->n;
}

void what_if_text(const struct what_if *w, size_t rows, struct buf *out)
{
	size_t n = count_shown(w, rows);

	buf_printf(out, "%s: %.6g %% less than the ", w->function, 100 * w->share);
	put_time(out, 0, w->ran);
	buf_printf(out, " that it ran (%" PRIu64 " samples)\n%zu of %zu %s shown; intervals: 95 %%\n\n",
		   w->samples, n, w->n, w->by_thread ? "threads" : "processes");
	buf_printf(out, "%10s %10s %10s %15s  %s\n", "now", "at least", "at most", "saved",
		   w->by_thread ? "thread" : "process");
	for (size_t i = 0; i < n; i++) {
		const struct what_if_row *row = &w->rows[i];
		char saved[40] = "no effect";

		put_time(out, 10, (double)row->wall);
		buf_byte(out, ' ');
		put_time(out, 10, (double)row->wall - row->most);
		buf_byte(out, ' ');
		put_time(out, 10, (double)row->wall - row->least);
		if (row->touched)
			snprintf(saved, sizeof(saved), "%.2f-%.2f%%", percent_of(row, row->least),
				 percent_of(row, row->most));
		buf_printf(out, " %15s  %s\n", saved, row->name);
	}
	buf_text(out, "\nAssumed: all else runs as long, sleeps and disks take as long, and no wait is new "
		      "(cprof(7), Waiting)\n");
	if (out->failed)
		cli_no_memory();
}

void what_if_rows(const struct what_if *w, size_t rows, enum rows_format format, struct buf *out)
{
	static const char *const columns[] = { "name",		"wall_ns", "saved_least_ns",
					       "saved_most_ns", "effect",  NULL };
	struct rows r;

	if (!rows_init(&r, format, columns))
		cli_usage("-o ndjson and json are not available: built without jansson");
	for (size_t i = 0; i < count_shown(w, rows); i++) {
		rows_text(&r, slice_of(w->rows[i].name));
		rows_count(&r, w->rows[i].wall);
		rows_count(&r, (uint64_t)w->rows[i].least);
		rows_count(&r, (uint64_t)w->rows[i].most);
		rows_count(&r, w->rows[i].touched);
	}
	rows_end(&r);
	buf_bytes(out, r.out.p, r.out.n);
	if (r.failed || out->failed)
		cli_no_memory();
	rows_release(&r);
}
