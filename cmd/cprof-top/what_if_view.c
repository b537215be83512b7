#include "cmd/cprof-top/what_if_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/shared/cli.h"

enum { FIRST_ROWS = 3, SMALL = 100 };

static const char assumed[] = "all else runs as long, sleeps and disks take as long, and no wait is new";

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

static void put_saved(struct buf *out, const struct what_if_row *row)
{
	if (row->touched)
		buf_printf(out, "%.2f-%.2f%%", percent_of(row, row->least), percent_of(row, row->most));
	else
		buf_text(out, "no effect");
}

static size_t count_shown(const struct what_if *w, size_t rows)
{
	return rows && rows < w->n ? rows : w->n;
}

/* Returns whether waits that were too short to separate requests may matter for their number. */
static bool has_brief(const struct what_if *w)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < w->n; i++)
		ns += w->rows[i].requests * w->rows[i].wall;
	return w->requests && w->brief > ns / SMALL;
}

/* How many requests there are, and how they were recognized. site: the function as it is shown. */
static void put_requests(const struct what_if *w, const char *site, struct buf *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->rows[i].requests;
	buf_printf(out, "%" PRIu64 " requests, each from the end of a wait in %s to the thread's next one", n,
		   site);
}

static void put_brief_waits(const struct what_if *w, struct buf *out)
{
	put_time(out, 0, (double)w->brief);
	buf_text(out, " of waits there are too short to separate requests (--off-cpu of cprof-record)");
}

/* The lengths as they were recorded: a mean alone hides the slow ones. */
static void put_lengths(const struct what_if *w, size_t n, struct buf *out)
{
	buf_printf(out, "\nHow long the requests took:\n%10s %10s %10s %10s %10s  %s\n", "requests", "mean",
		   "median", "90 %", "99 %", w->by_thread ? "thread" : "process");
	for (size_t i = 0; i < n; i++) {
		const struct what_if_row *row = &w->rows[i];
		const uint64_t lengths[] = { row->wall, row->median, row->p90, row->p99 };

		buf_printf(out, "%10" PRIu64, row->requests);
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
			put_time(out, 11, (double)lengths[k]);
		buf_printf(out, "  %s\n", row->name);
	}
}

void what_if_text(const struct what_if *w, size_t rows, struct buf *out)
{
	size_t n = count_shown(w, rows);

	buf_printf(out, "%s: %.6g %% less than the ", w->function, 100 * w->share);
	put_time(out, 0, w->ran);
	buf_printf(out, " that it ran (%" PRIu64 " sample%s)\n", w->samples, w->samples == 1 ? "" : "s");
	if (w->requests) {
		put_requests(w, w->requests, out);
		buf_byte(out, '\n');
	}
	if (has_brief(w)) {
		put_brief_waits(w, out);
		buf_byte(out, '\n');
	}
	buf_printf(out, "%zu of %zu %s shown; %sintervals: 95 %%\n\n", n, w->n,
		   w->by_thread ? "threads" : "processes", w->requests ? "means of requests; " : "");
	if (w->requests)
		buf_printf(out, "%10s ", "requests");
	buf_printf(out, "%10s %10s %10s %15s  %s\n", "now", "at least", "at most", "saved",
		   w->by_thread ? "thread" : "process");
	for (size_t i = 0; i < n; i++) {
		const struct what_if_row *row = &w->rows[i];
		struct buf saved = { 0 };

		if (w->requests)
			buf_printf(out, "%10" PRIu64 " ", row->requests);
		put_time(out, 10, (double)row->wall);
		buf_byte(out, ' ');
		put_time(out, 10, (double)row->wall - row->most);
		buf_byte(out, ' ');
		put_time(out, 10, (double)row->wall - row->least);
		put_saved(&saved, row);
		buf_printf(out, " %15s  %s\n", buf_cstr(&saved), row->name);
		out->failed = out->failed || saved.failed;
		buf_release(&saved);
	}
	if (w->requests)
		put_lengths(w, n, out);
	buf_printf(out, "\nAssumed: %s (cprof(7), Waiting)\n", assumed);
	if (out->failed)
		cli_no_memory();
}

void what_if_rows(const struct what_if *w, size_t rows, enum rows_format format, struct buf *out)
{
	static const char *const columns[] = { "name",	"wall_ns", "saved_least_ns", "saved_most_ns",
					       "effect", NULL },
				 *const means[] = { "name",   "mean_ns",  "saved_least_ns", "saved_most_ns",
						    "effect", "requests", "median_ns", "p90_ns",
						    "p99_ns", NULL };
	struct rows r;

	if (!rows_init(&r, format, w->requests ? means : columns))
		cli_usage("-o ndjson and json are not available: built without jansson");
	for (size_t i = 0; i < count_shown(w, rows); i++) {
		rows_text(&r, slice_of(w->rows[i].name));
		rows_count(&r, w->rows[i].wall);
		rows_count(&r, (uint64_t)w->rows[i].least);
		rows_count(&r, (uint64_t)w->rows[i].most);
		rows_count(&r, w->rows[i].touched);
		if (!w->requests)
			continue;
		rows_count(&r, w->rows[i].requests);
		rows_count(&r, w->rows[i].median);
		rows_count(&r, w->rows[i].p90);
		rows_count(&r, w->rows[i].p99);
	}
	rows_end(&r);
	buf_bytes(out, r.out.p, r.out.n);
	if (r.failed || out->failed)
		cli_no_memory();
	rows_release(&r);
}

void what_if_brief_title(const struct what_if *w, struct brief *b)
{
	struct buf name = { 0 };

	brief_name(&name, slice_of(w->function));
	brief_title(b, "# cprof-top: %s if %s took %.6g %% less", w->requests ? "requests" : "elapsed time",
		    buf_cstr(&name), 100 * w->share);
	b->failed = b->failed || name.failed;
	buf_release(&name);
}

static void put_percentiles(struct buf *out, const struct what_if_row *row)
{
	const uint64_t lengths[] = { row->median, row->p90, row->p99 };

	buf_printf(out, "%" PRIu64 " | ", row->requests);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_time(out, 0, (double)lengths[i]);
		buf_text(out, " | ");
	}
}

void what_if_brief(const struct what_if *w, size_t rows, size_t first, size_t later, struct brief *b)
{
	brief_section(b, "How long it would take",
		      w->requests ? "| now, mean | at least | at most | saved, 95 % | requests | median "
				    "| 90 % | 99 % | name |\n|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
				  : "| now | at least | at most | saved, 95 % | name |\n"
				    "|---:|---:|---:|---:|---|\n");
	for (size_t i = 0; i < count_shown(w, rows); i++) {
		const struct what_if_row *row = &w->rows[i];
		struct buf text = { 0 };

		put_time(&text, 0, (double)row->wall);
		buf_text(&text, " | ");
		put_time(&text, 0, (double)row->wall - row->most);
		buf_text(&text, " | ");
		put_time(&text, 0, (double)row->wall - row->least);
		buf_text(&text, " | ");
		put_saved(&text, row);
		buf_text(&text, " | ");
		if (w->requests)
			put_percentiles(&text, row);
		brief_name(&text, slice_of(row->name));
		brief_line(b, i < FIRST_ROWS ? first : later, "| %s |", buf_cstr(&text));
		b->failed = b->failed || text.failed;
		buf_release(&text);
	}
}

static void add_requests(const struct what_if *w, size_t priority, struct brief *b)
{
	struct buf text = { 0 }, name = { 0 };

	brief_name(&name, slice_of(w->requests));
	put_requests(w, buf_cstr(&name), &text);
	brief_line(b, priority, "- %s.", buf_cstr(&text));
	if (has_brief(w)) {
		buf_clear(&text);
		put_brief_waits(w, &text);
		brief_line(b, priority, "- %s.", buf_cstr(&text));
	}
	b->failed = b->failed || text.failed || name.failed;
	buf_release(&text);
	buf_release(&name);
}

void what_if_brief_doubts(const struct what_if *w, size_t priority, struct brief *b)
{
	struct buf text = { 0 };

	brief_name(&text, slice_of(w->function));
	buf_text(&text, " ran for ");
	put_time(&text, 0, w->ran);
	brief_line(b, priority, "- %s, by %" PRIu64 " sample%s.", buf_cstr(&text), w->samples,
		   w->samples == 1 ? "" : "s");
	b->failed = b->failed || text.failed;
	buf_release(&text);
	if (w->requests)
		add_requests(w, priority, b);
	brief_line(b, priority, "- Assumed: %s.", assumed);
}
