#include "cmd/cprof-top/trend_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 80, LINE_MOST = 10000, CELL = 11, NAME = 24, COLUMNS_MOST = 6, SECOND = 1000000000 };

void trend_view_init(struct trend_view *t, const struct views *v)
{
	uint32_t *labels;

	views_table(v, &t->table);
	t->shown = views_shown(v, t->table.n);
	labels = calloc(t->shown + 1, sizeof(*labels));
	for (size_t i = 0; labels && i < t->shown; i++)
		labels[i] = t->table.rows[i].label;
	if (!labels || !trend_init(&t->trend, v->profile, v->origins, v->every, labels, t->shown, v->cum))
		cli_no_memory();
	if (!t->trend.cells)
		cli_die(STATUS_USAGE, "--every: %" PRIu64 " intervals are more than %d: choose longer ones",
			t->trend.intervals, TREND_INTERVALS);
	free(labels);
}

void trend_view_release(struct trend_view *t)
{
	trend_release(&t->trend);
	table_release(&t->table);
}

uint64_t trend_view_weight(const struct trend_view *t, size_t row, uint64_t interval)
{
	uint64_t weight = 0;

	if (row < t->shown)
		return t->trend.cells[row * t->trend.intervals + interval];
	for (size_t i = 0; i < t->shown; i++)
		weight += trend_view_weight(t, i, interval);
	return weight < t->trend.total[interval] ? t->trend.total[interval] - weight : 0;
}

/* Appends the beginning of an interval, in local time. */
static void put_time(const struct trend *t, uint64_t interval, const char *format, struct buf *out)
{
	time_t seconds = (time_t)((t->first + interval) * t->length / SECOND);
	char text[40];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), format, &tm))
		buf_text(out, text);
	if (t->length % SECOND)
		buf_printf(out, ".%03u", (unsigned int)((t->first + interval) * t->length % SECOND / 1000000));
}

static void zone_text(const struct trend *t, uint64_t interval, char *to, size_t size)
{
	time_t seconds = (time_t)((t->first + interval) * t->length / SECOND);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(to, size, "%Z", &tm))
		to[0] = '\0';
}

/* Appends the zone of the times; if clocks were changed meanwhile, the first and the last one. */
static void put_zone(const struct trend *t, struct buf *out)
{
	char first[40], last[40];

	zone_text(t, 0, first, sizeof(first));
	zone_text(t, t->intervals ? t->intervals - 1 : 0, last, sizeof(last));
	buf_text(out, first);
	if (strcmp(first, last) != 0)
		buf_printf(out, ", then %s", last);
}

/* Appends the text, cut at the width or filled up to it; right: aligned there. */
static void put_cell(struct buf *out, struct buf *text, size_t width, bool right)
{
	size_t n = 0, end = 0;

	while (end < text->n && n < width) {
		n++;
		for (end++; end < text->n && (text->p[end] & 0xc0) == 0x80; end++)
			;
	}
	buf_printf(out, "%*s", right ? (int)(width - n) : 0, "");
	buf_bytes(out, text->p, end);
	buf_printf(out, "%*s", right ? 0 : (int)(width - n), "");
	buf_clear(text);
}

static void put_name(const struct views *v, const struct trend_view *t, size_t row, struct buf *out)
{
	if (row < t->shown)
		view_names_append(v->names, t->table.rows[row].label, out);
	else
		buf_text(out, "[others]");
}

/* Returns the columns of a line, by COLUMNS or the terminal; 0: neither says. */
static size_t line_width(void)
{
	const char *asked = getenv("COLUMNS");
	unsigned long columns = asked ? strtoul(asked, NULL, 10) : 0;
	struct winsize size;

	if (columns)
		return columns < LINE_MOST ? columns : LINE_MOST;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Returns how many columns for names a line has room for; without a known width, -n alone limits them. */
static size_t count_fitting_names(const struct views *v)
{
	size_t width = line_width();

	if (!width && v->rows_asked)
		return SIZE_MAX;
	width = width ? width : LINE;
	return width > CELL + 10 ? (width - CELL - 10) / (CELL + 2) : 0;
}

static bool has_others(const struct trend_view *t, const struct views *v)
{
	return t->shown < t->table.n && !v->cum;
}

/* A row for each name, heaviest first. */
static void put_by_name(const struct views *v, const struct trend_view *t, struct buf *out)
{
	struct buf text = { 0 };

	buf_printf(out, "%*s", CELL - 1, "total");
	for (uint64_t i = 0; i < t->trend.intervals; i++) {
		put_time(&t->trend, i, "%H:%M:%S", &text);
		put_cell(out, &text, CELL, true);
	}
	buf_text(out, "  name\n");
	for (size_t row = 0; row < t->shown + has_others(t, v); row++) {
		uint64_t sum = 0;

		for (uint64_t i = 0; i < t->trend.intervals; i++)
			sum += trend_view_weight(t, row, i);
		views_weight(v, out, sum);
		for (uint64_t i = 0; i < t->trend.intervals; i++) {
			buf_byte(out, ' ');
			views_weight(v, out, trend_view_weight(t, row, i));
		}
		buf_text(out, "  ");
		put_name(v, t, row, out);
		buf_byte(out, '\n');
	}
	buf_release(&text);
}

/* A row for each interval, with a column for each of the heaviest names. */
static void put_by_time(const struct views *v, struct trend_view *t, struct buf *out)
{
	size_t fit = count_fitting_names(v);
	struct buf text = { 0 };

	t->shown = t->shown < fit ? t->shown : fit > 1 ? fit - 1 : 1;
	buf_printf(out, "%-10s%*s", "time", CELL, "total");
	for (size_t row = 0; row < t->shown + has_others(t, v); row++) {
		buf_text(out, "  ");
		put_name(v, t, row, &text);
		put_cell(out, &text, CELL, true);
	}
	for (uint64_t i = 0; i < t->trend.intervals; i++) {
		buf_byte(out, '\n');
		put_time(&t->trend, i, "%H:%M:%S", &text);
		put_cell(out, &text, t->trend.length % SECOND ? 12 : 10, false);
		buf_byte(out, ' ');
		views_weight(v, out, t->trend.total[i]);
		for (size_t row = 0; row < t->shown + has_others(t, v); row++) {
			buf_text(out, "   ");
			views_weight(v, out, trend_view_weight(t, row, i));
		}
	}
	buf_byte(out, '\n');
	buf_release(&text);
}

static void put_trend(const struct views *v, struct buf *out)
{
	size_t width = line_width();
	struct trend_view t;

	trend_view_init(&t, v);
	buf_text(out, "Total:     ");
	views_weight(v, out, v->profile->total[0]);
	if (v->view->weight != WEIGHT_NS)
		buf_printf(out, " %s", view_unit(v->view));
	buf_printf(out, ", %" PRIu64 " intervals of %g s from ", t.trend.intervals,
		   (double)t.trend.length / SECOND);
	put_time(&t.trend, 0, "%Y-%m-%d %H:%M:%S", out);
	buf_byte(out, ' ');
	put_zone(&t.trend, out);
	buf_text(out, "\n\n");
	if (CELL + t.trend.intervals * CELL + NAME <= (width ? width : LINE))
		put_by_name(v, &t, out);
	else
		put_by_time(v, &t, out);
	trend_view_release(&t);
}

void trend_text(const struct views *v, struct buf *out)
{
	struct views named = *v;
	struct view_names names;

	view_names_init(&names, v->profile, v->view, v->modules);
	named.names = &names;
	put_trend(&named, out);
	view_names_release(&names);
	if (out->failed)
		cli_no_memory();
}

void trend_brief(const struct views *v, struct brief *b, size_t priority)
{
	struct buf text = { 0 }, line = { 0 };
	struct trend_view t;
	char weight[32];

	trend_view_init(&t, v);
	t.shown = t.shown < COLUMNS_MOST ? t.shown : COLUMNS_MOST;
	buf_text(&text, "| time (");
	put_zone(&t.trend, &text);
	buf_text(&text, ") | total |");
	buf_text(&line, "|---|---:|");
	for (size_t row = 0; row < t.shown + has_others(&t, v); row++) {
		struct buf name = { 0 };

		put_name(v, &t, row, &name);
		buf_byte(&text, ' ');
		brief_name(&text, buf_view(&name));
		buf_text(&text, " |");
		buf_text(&line, "---:|");
		buf_release(&name);
	}
	buf_printf(&text, "\n%s\n", buf_cstr(&line));
	brief_section(b, "Trend", buf_cstr(&text));
	for (uint64_t i = 0; i < t.trend.intervals; i++) {
		buf_clear(&text);
		put_time(&t.trend, i, "%Y-%m-%dT%H:%M:%S", &text);
		buf_printf(&text, " | %s |", views_weight_text(v, weight, sizeof(weight), t.trend.total[i]));
		for (size_t row = 0; row < t.shown + has_others(&t, v); row++)
			buf_printf(&text, " %s |", views_weight_text(v, weight, sizeof(weight),
								     trend_view_weight(&t, row, i)));
		brief_line(b, priority, "| %s", buf_cstr(&text));
	}
	b->failed = b->failed || text.failed || line.failed;
	buf_release(&text);
	buf_release(&line);
	trend_view_release(&t);
}
