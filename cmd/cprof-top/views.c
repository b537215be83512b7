#include "cmd/cprof-top/views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/shared/facts/header.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/base/array.h"
#include "common/blame/waker_rows.h"
#include "common/views/top_stacks.h"
#include "common/views/tree_view.h"

enum { TABLE_HEAD = 3 }; /* lines above the rows of a table */
enum { INDENTED = 40 }; /* levels; deeper lines print their depth: spaces for n frames take n * n bytes */

size_t views_shown(const struct views *v, size_t n)
{
	return v->rows && v->rows < n ? v->rows : n;
}

static const char *things_of(const struct views *v)
{
	return v->shape == SHAPE_STACKS ? "stacks" : keys_things(v->view);
}

void views_time(char *to, size_t size, uint64_t ns)
{
	if (ns >= 1000000000)
		snprintf(to, size, "%.2fs", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(to, size, "%.2fms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(to, size, "%.2fus", (double)ns / 1e3);
	else
		snprintf(to, size, "%" PRIu64 "ns", ns);
}

void views_weight(const struct views *v, struct buf *out, uint64_t weight)
{
	char text[32];

	buf_printf(out, "%10s", views_weight_text(v, text, sizeof(text), weight));
}

const char *views_weight_text(const struct views *v, char *to, size_t size, uint64_t weight)
{
	if (v->view->weight == WEIGHT_NS)
		views_time(to, size, weight);
	else
		snprintf(to, size, "%" PRIu64, weight);
	return to;
}

static void put_name(const struct views *v, struct buf *out, uint32_t label)
{
	view_names_append(v->names, label, out);
}

static double percent_of_total(const struct views *v, uint64_t weight)
{
	return header_percent(weight, v->profile->total[0]);
}

static void put_total(const struct views *v, struct buf *out)
{
	buf_text(out, "Total:     ");
	views_weight(v, out, v->profile->total[0]);
	if (v->view->weight != WEIGHT_NS)
		buf_printf(out, " %s", view_unit(v->view));
}

static void put_total_of(const struct views *v, struct buf *out, size_t n, size_t all)
{
	put_total(v, out);
	buf_printf(out, ", %zu of %zu %s shown\n", n, all, things_of(v));
}

static bool matches_name(const struct views *v, const regex_t *expression, uint32_t label)
{
	struct slice shown = view_names_shown(v->names, label);
	struct buf text = { 0 };
	bool matches;

	buf_bytes(&text, shown.p, shown.n);
	if (text.failed)
		cli_no_memory();
	matches = regexec(expression, buf_cstr(&text), 0, NULL, 0) == 0;
	buf_release(&text);
	return matches;
}

/* Returns whether the view has this row. */
static bool has_row(const struct views *v, uint32_t label)
{
	if (v->shape == SHAPE_PEEK)
		return matches_name(v, v->peek, label);
	return (!v->search || matches_name(v, v->search, label)) &&
	       (!v->module.n || slice_equal(view_names_module(v->names, label), v->module));
}

void views_table(const struct views *v, struct table *t)
{
	size_t n = 0;

	if (!table_init(t, v->profile))
		cli_no_memory();
	for (size_t i = 0; i < t->n; i++) {
		struct table_row *row = &t->rows[i];

		if (!has_row(v, row->label))
			continue;
		row->key = (double)(v->cum ? row->cum[0] : row->flat[0]);
		row->second = (double)(v->cum ? row->flat[0] : row->cum[0]);
		t->rows[n++] = *row;
	}
	t->n = n;
	table_sort(t, v->profile);
}

struct interval views_interval(const struct views *v, uint64_t weight)
{
	double n = v->view->weight != WEIGHT_SAMPLES ? v->samples : (double)v->profile->total[0];

	return interval_wilson(percent_of_total(v, weight) / 100 * n, n, INTERVAL_95);
}

static void put_interval(const struct views *v, struct buf *out, uint64_t weight)
{
	struct interval i = views_interval(v, weight);
	char text[40];

	if (!v->intervals)
		return;
	snprintf(text, sizeof(text), "(%.2f-%.2f)", 100 * i.low, 100 * i.high);
	buf_printf(out, " %15s", text);
}

static void put_intervals_note(const struct views *v, struct buf *out)
{
	if (!v->intervals)
		return;
	buf_text(out, "Intervals:  95 % (Wilson), as for independent samples; true intervals are wider if samples come in bursts\n");
	if (v->view->weight != WEIGHT_SAMPLES)
		buf_printf(out, "            weights are not counts: computed as if all %.0f samples had the same weight\n", v->samples);
}

/* Returns how many rows fit, at least one. */
static size_t count_fitting_rows(const struct views *v, const struct buf *out, size_t n)
{
	size_t above = buf_lines(out) + TABLE_HEAD + (v->intervals ? 1 + (v->view->weight != WEIGHT_SAMPLES) : 0);
	size_t most = v->lines > above ? v->lines - above : 1;

	return v->lines && most < n ? most : n;
}

/* Columns of several keys: how wide each is, but the last. */
struct key_columns {
	size_t n, width[VIEW_KEYS];
	struct buf text;
};

enum { KEY_WIDTH_MOST = 40 };

static size_t shown_width(struct slice text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += (text.p[i] & 0xc0) != 0x80;
	return n;
}

static void measure_column(struct key_columns *c, size_t column, struct slice text)
{
	size_t n = shown_width(text);

	n = n < KEY_WIDTH_MOST ? n : KEY_WIDTH_MOST;
	c->width[column] = n > c->width[column] ? n : c->width[column];
}

static void measure_columns(const struct views *v, const struct table *t, size_t rows, struct key_columns *c)
{
	c->n = keys_columns(v->view);
	for (size_t k = 0; k + 1 < c->n; k++) {
		measure_column(c, k, slice_of(keys_name(v->view, k)));
		for (size_t i = 0; i < rows; i++) {
			buf_clear(&c->text);
			view_names_column(v->names, t->rows[i].label, k, c->n, &c->text);
			measure_column(c, k, buf_view(&c->text));
		}
	}
}

static void put_cell(struct key_columns *c, size_t column, struct buf *out)
{
	size_t n = shown_width(buf_view(&c->text));

	buf_text(out, "  ");
	buf_bytes(out, c->text.p, c->text.n);
	if (column + 1 < c->n)
		buf_printf(out, "%*s", n < c->width[column] ? (int)(c->width[column] - n) : 0, "");
	buf_clear(&c->text);
}

/* Appends the names of the keys, if there are several. */
static void put_key_names(const struct views *v, struct key_columns *c, struct buf *out)
{
	for (size_t k = 0; c->n > 1 && k < c->n; k++) {
		buf_clear(&c->text);
		buf_text(&c->text, keys_name(v->view, k));
		put_cell(c, k, out);
	}
	buf_byte(out, '\n');
}

static void put_keys(const struct views *v, struct key_columns *c, uint32_t label, struct buf *out)
{
	for (size_t k = 0; k < c->n; k++) {
		buf_clear(&c->text);
		view_names_column(v->names, label, k, c->n, &c->text);
		put_cell(c, k, out);
	}
	buf_byte(out, '\n');
}

/* The share of the CPU time, beside that of the latency. */
static void put_cpu(const struct views *v, struct buf *out, uint64_t weight)
{
	if (v->cpu)
		buf_printf(out, " %6.2f%%", header_percent(weight, v->profile->total[1]));
}

static void note_rows(const struct views *v, const struct table *t, size_t n, const struct buf *out)
{
	struct views_rows_shown *to = v->shown;

	if (!to)
		return;
	to->line = buf_lines(out);
	to->n = n < VIEWS_ROWS ? n : VIEWS_ROWS;
	for (size_t i = 0; i < to->n; i++)
		to->labels[i] = t->rows[i].label;
}

static uint64_t weight_sorted(const struct views *v, const struct table_row *row)
{
	return v->cum ? row->cum[0] : row->flat[0];
}

/* By waker: the waits that it ended, and the longest of them. */
static void wakers_text(const struct views *v, struct buf *out)
{
	uint64_t sum = 0;
	struct table t;
	size_t n;

	views_table(v, &t);
	n = views_shown(v, t.n);
	put_total_of(v, out, n, t.n);
	buf_printf(out, "\n%10s %7s %7s %10s %10s\n", "flat", "flat%", "sum%", "waits", "longest");
	for (size_t i = 0; i < n; i++) {
		const struct table_row *row = &t.rows[i];
		struct waker_row w = waker_rows_find(v->view->wakers, profile_text(v->profile, row->label));

		sum += row->flat[0];
		views_weight(v, out, row->flat[0]);
		buf_printf(out, " %6.2f%% %6.2f%% %10" PRIu64 " ", percent_of_total(v, row->flat[0]),
			   percent_of_total(v, sum), w.waits);
		views_weight(v, out, w.longest);
		buf_text(out, "  ");
		put_name(v, out, row->label);
		buf_byte(out, '\n');
	}
	table_release(&t);
}

static void table_text(const struct views *v, struct buf *out)
{
	const char *of = v->intervals ? "          (95%)" : v->cpu ? "   cpu%" : "";
	const char *gap = v->intervals || v->cpu ? " " : "";
	struct key_columns columns = { 0 };
	uint64_t sum = 0;
	struct table t;
	size_t n;

	views_table(v, &t);
	n = count_fitting_rows(v, out, views_shown(v, t.n));
	put_total_of(v, out, n, t.n);
	put_intervals_note(v, out);
	buf_printf(out, "\n%10s %7s%s%s %7s %10s %7s%s%s", "flat", "flat%", gap, of, "sum%",
		   "cum", "cum%", gap, of);
	measure_columns(v, &t, n, &columns);
	put_key_names(v, &columns, out);
	note_rows(v, &t, n, out);
	for (size_t i = 0; i < n; i++) {
		const struct table_row *row = &t.rows[i];
		uint64_t weight = v->colour ? weight_sorted(v, row) : 0;
		const char *colour = colour_of(weight, weight_sorted(v, t.rows));

		sum += row->flat[0];
		buf_text(out, colour);
		views_weight(v, out, row->flat[0]);
		buf_printf(out, " %6.2f%%", percent_of_total(v, row->flat[0]));
		put_interval(v, out, row->flat[0]);
		put_cpu(v, out, row->flat[1]);
		buf_printf(out, " %6.2f%% ", percent_of_total(v, sum));
		views_weight(v, out, row->cum[0]);
		buf_printf(out, " %6.2f%%", percent_of_total(v, row->cum[0]));
		put_interval(v, out, row->cum[0]);
		put_cpu(v, out, row->cum[1]);
		put_keys(v, &columns, row->label, out);
		if (colour[0]) {
			out->n--;
			buf_text(out, COLOUR_PLAIN "\n");
		}
	}
	buf_release(&columns.text);
	table_release(&t);
}

/* A caller or callee, right of the columns of the function itself. */
static void put_call(const struct views *v, struct buf *out, uint64_t weight, uint64_t cum, uint32_t label,
		     const char *what)
{
	buf_printf(out, "%38s", "");
	views_weight(v, out, weight);
	buf_printf(out, " %6.2f%%    ", header_percent(weight, cum));
	put_name(v, out, label);
	buf_printf(out, "%s\n", what);
}

static void put_function(const struct views *v, struct buf *out, const struct table_row *row, const struct peek *k)
{
	const struct peek_call *call;
	size_t n;

	call = peek_callers(k, row->label, &n);
	for (size_t i = 0; i < n; i++)
		put_call(v, out, call[i].weight, row->cum[0], call[i].caller, call[i].command ? " (command)" : "");
	views_weight(v, out, row->flat[0]);
	buf_printf(out, " %6.2f%% ", percent_of_total(v, row->flat[0]));
	views_weight(v, out, row->cum[0]);
	buf_printf(out, " %6.2f%% %21s", percent_of_total(v, row->cum[0]), "");
	put_name(v, out, row->label);
	buf_byte(out, '\n');
	call = peek_callees(k, row->label, &n);
	for (size_t i = 0; i < n; i++)
		put_call(v, out, call[i].weight, row->cum[0], call[i].callee, "");
}

void views_peek(const struct views *v, struct table *t, struct peek *k)
{
	bool *chosen = calloc(v->profile->labels.n, sizeof(*chosen));

	views_table(v, t);
	for (size_t i = 0; chosen && i < views_shown(v, t->n); i++)
		chosen[t->rows[i].label] = true;
	if (!chosen || !peek_init(k, v->profile, chosen))
		cli_no_memory();
	free(chosen);
}

static void peek_text(const struct views *v, struct buf *out)
{
	struct table t;
	struct peek k;
	size_t n;

	views_peek(v, &t, &k);
	n = views_shown(v, t.n);
	put_total(v, out);
	buf_printf(out, ", %zu of %zu matching %s shown\n\n", n, t.n, things_of(v));
	buf_printf(out, "%10s %7s %10s %7s %10s %7s  %s\n", "flat", "flat%", "cum", "cum%", "call", "call%",
		   "function between its callers and callees");
	for (size_t i = 0; i < n; i++) {
		buf_text(out, i ? "\n" : "");
		put_function(v, out, &t.rows[i], &k);
	}
	peek_release(&k);
	table_release(&t);
}

void views_path(const struct views *v, uint32_t node, struct views_path *path)
{
	path->n = 0;
	for (uint32_t at = node; at; at = v->profile->nodes[at].parent)
		path->n++;
	if (!grow_array(&path->labels, &path->cap, path->n, sizeof(*path->labels)))
		cli_no_memory();
	for (size_t i = path->n; i > 0; i--, node = v->profile->nodes[node].parent)
		path->labels[i - 1] = v->profile->nodes[node].label;
}

static void stacks_text(const struct views *v, struct buf *out)
{
	struct views_path path = { 0 };
	struct top_stacks s;
	uint64_t sum = 0;
	size_t n;

	if (!top_stacks_init(&s, v->profile))
		cli_no_memory();
	n = views_shown(v, s.n);
	put_total_of(v, out, n, s.n);
	buf_printf(out, "\n%10s %7s %7s  %s\n", "flat", "flat%", "sum%", "stack, the innermost frame first");
	for (size_t i = 0; i < n; i++) {
		const struct top_stacks_item *it = &s.list[i];

		sum += it->weight;
		views_path(v, it->node, &path);
		buf_text(out, i ? "\n" : "");
		views_weight(v, out, it->weight);
		buf_printf(out, " %6.2f%% %6.2f%%", percent_of_total(v, it->weight), percent_of_total(v, sum));
		for (size_t f = path.n; f > 0; f--) {
			buf_printf(out, "%*s  ", f == path.n ? 0 : 26, "");
			put_name(v, out, path.labels[f - 1]);
			buf_byte(out, '\n');
		}
	}
	free(path.labels);
	top_stacks_release(&s);
}

uint64_t views_least(const struct views *v)
{
	return (uint64_t)ceil(v->min_share / 100 * (double)v->profile->total[0]);
}

/* Notes a line of the tree as a row. */
static void note_line(const struct views *v, const struct tree_line *line)
{
	struct views_rows_shown *to = v->shown;

	if (to && to->n < VIEWS_ROWS)
		to->labels[to->n++] = line->more ? 0 : line->node;
}

static void put_line(const struct views *v, struct buf *out, const struct tree_line *line)
{
	uint32_t indent = line->depth < INDENTED ? line->depth : INDENTED;

	views_weight(v, out, line->total);
	buf_printf(out, " %6.2f%% ", percent_of_total(v, line->total));
	views_weight(v, out, line->self);
	buf_printf(out, " %6.2f%%  %*s", percent_of_total(v, line->self), (int)(2 * indent), "");
	if (line->depth > indent)
		buf_printf(out, "(%" PRIu32 ") ", line->depth);
	if (line->more)
		buf_printf(out, "[%zu more]", line->more);
	else
		put_name(v, out, v->profile->nodes[line->node].label);
	buf_byte(out, '\n');
}

static void tree_text(const struct views *v, struct buf *out)
{
	struct tree_line line;
	struct tree t;

	put_total(v, out);
	buf_printf(out, "\n\n%10s %7s %10s %7s\n", "total", "total%", "self", "self%");
	if (!tree_init(&t, v->profile, views_least(v), v->depth))
		cli_no_memory();
	if (v->shown)
		*v->shown = (struct views_rows_shown){ .line = buf_lines(out) };
	while (tree_next(&t, &line)) {
		note_line(v, &line);
		put_line(v, out, &line);
	}
	if (t.failed)
		cli_no_memory();
	tree_release(&t);
}

void views_text(const struct views *v, struct buf *out)
{
	static void (*const shapes[])(const struct views *, struct buf *) = {
		[SHAPE_TABLE] = table_text, [SHAPE_PEEK] = peek_text,
		[SHAPE_STACKS] = stacks_text, [SHAPE_TREE] = tree_text,
	};

	struct view_names names;
	struct views named = *v;

	view_names_init(&names, v->profile, v->view, v->modules);
	named.names = &names;
	(v->view->wakers && v->shape == SHAPE_TABLE ? wakers_text : shapes[v->shape])(&named, out);
	view_names_release(&names);
	if (out->failed)
		cli_no_memory();
}
