#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cprof-top/lock_table.h"
#include "cmd/cprof-top/trend_view.h"
#include "cmd/cprof-top/views.h"
#include "cmd/shared/facts/header.h"
#include "cmd/shared/facts/losses.h"
#include "cmd/shared/keys.h"
#include "common/base/array.h"
#include "common/blame/waker_rows.h"
#include "common/capture/damage.h"
#include "common/capture/sample_counts.h"
#include "common/export/json.h"
#include "common/views/top_stacks.h"
#include "common/views/tree_view.h"

/* Rows being written, and what JSON writes before them. */
struct writing {
	const struct views *v;
	enum rows_format format;
	const struct loaded *l;
	struct rows rows;
	struct buf *out;
};

static void put_key(struct buf *out, const char *key)
{
	buf_text(out, out->n && out->p[out->n - 1] != '{' ? "," : "");
	json_text(out, slice_of(key));
	buf_byte(out, ':');
}

static void put_count(struct buf *out, const char *key, uint64_t n)
{
	put_key(out, key);
	json_count(out, n);
}

/* The sentence of the header, "" if nothing is damaged, and its numbers. */
static void put_damage(struct buf *out, const struct capture_totals *t)
{
	struct buf text = { 0 };

	damage_append(&text, t);
	if (text.failed)
		cli_no_memory();
	put_key(out, "damaged");
	json_text(out, buf_view(&text));
	put_count(out, "cut", damage_cut(t));
	put_count(out, "blocks_damaged", t->blocks_damaged);
	put_count(out, "records_refused", damage_refused(t));
	buf_release(&text);
}

/* The summary of the captures. Folded text has none. */
static void put_capture(struct buf *out, const struct loaded *l)
{
	const struct capture_totals *t = &l->totals;

	put_key(out, "capture");
	buf_byte(out, '{');
	put_count(out, "samples", samples_ticks(t));
	put_count(out, "waits", t->waits);
	put_count(out, "others", t->others);
	put_key(out, "seconds");
	json_number(out, (double)t->seconds_ns / 1e9);
	put_count(out, "looked_at", l->sums.samples);
	put_count(out, "refused", t->refused);
	put_count(out, "unresolved", l->sums.unresolved);
	put_count(out, "lost", losses_count(t));
	put_count(out, "lost_events", losses_events(t));
	put_damage(out, t);
	put_key(out, "ledger");
	buf_byte(out, '{');
	for (unsigned int o = 0; o < OUTCOMES; o++) {
		if (t->outcomes[o])
			put_count(out, outcome_name(o), t->outcomes[o]);
	}
	buf_text(out, "}}");
}

/* shown and all: numbers of functions or stacks; a tree has no such numbers. */
static void begin_writing(struct writing *w, const char *const *columns, size_t shown, size_t all)
{
	if (w->format == ROWS_JSON) {
		buf_byte(w->out, '{');
		put_key(w->out, "unit");
		json_text(w->out, slice_of(view_unit(w->v->view)));
		put_count(w->out, "total", w->v->profile->total[0]);
		if (w->v->shape != SHAPE_TREE) {
			put_count(w->out, "shown", shown);
			put_count(w->out, "of", all);
		}
		if (w->l->streams)
			put_capture(w->out, w->l);
		if (w->l->streams && w->l->texts)
			put_count(w->out, "from_text", w->l->counts);
		put_key(w->out, "rows");
	}
	rows_init(&w->rows, w->format, columns);
}

/* Moves the finished rows to the output, so that they are not held twice. */
static void flush_rows(struct writing *w)
{
	buf_bytes(w->out, w->rows.out.p, w->rows.out.n);
	buf_clear(&w->rows.out);
	if (w->rows.failed || w->out->failed)
		cli_no_memory();
}

static void end_writing(struct writing *w)
{
	rows_end(&w->rows);
	if (w->format == ROWS_JSON && w->rows.out.n)
		w->rows.out.n--; /* the array's newline */
	flush_rows(w);
	buf_text(w->out, w->format == ROWS_JSON ? "}\n" : "");
	rows_release(&w->rows);
	if (w->out->failed)
		cli_no_memory();
}

static void put_weight(struct writing *w, uint64_t weight)
{
	rows_count(&w->rows, weight);
	rows_number(&w->rows, header_percent(weight, w->v->profile->total[0]));
	if (w->v->intervals) {
		struct interval i = views_interval(w->v, weight);

		rows_number(&w->rows, 100 * i.low);
		rows_number(&w->rows, 100 * i.high);
	}
}

static void put_cpu(struct writing *w, uint64_t weight)
{
	if (!w->v->cpu)
		return;
	rows_count(&w->rows, weight);
	rows_number(&w->rows, header_percent(weight, w->v->profile->total[1]));
}

static void put_text(struct writing *w, struct buf *text)
{
	if (text->failed)
		cli_no_memory();
	rows_text(&w->rows, buf_view(text));
	buf_release(text);
}

static void put_name(struct writing *w, uint32_t label)
{
	struct buf text = { 0 };

	view_names_append(w->v->names, label, &text);
	put_text(w, &text);
}

/* One name, or a column for each of several keys. */
static void put_keys(struct writing *w, uint32_t label)
{
	size_t n = keys_columns(w->v->view);

	for (size_t k = 0; k < n; k++) {
		struct buf text = { 0 };

		view_names_column(w->v->names, label, k, n, &text);
		put_text(w, &text);
	}
}

/* Makes the list of columns: those of several keys replace the name. */
static void name_columns(const struct view *v, const char *const *fixed, const char **columns)
{
	size_t n = 0;

	if (v->n_keys > 1) {
		fixed++;
		for (; n < v->n_keys; n++)
			columns[n] = keys_name(v, n);
	}
	while ((columns[n++] = *fixed++))
		;
}

static void table_rows(struct writing *w)
{
	static const char *const plain[] = { "name", "flat", "flat_percent", "cum", "cum_percent", NULL };
	static const char *const intervals[] = { "name", "flat", "flat_percent", "flat_low", "flat_high",
						 "cum", "cum_percent", "cum_low", "cum_high", NULL };
	static const char *const cpu[] = { "name", "flat", "flat_percent", "cpu_flat", "cpu_flat_percent",
					   "cum", "cum_percent", "cpu_cum", "cpu_cum_percent", NULL };
	const char *columns[VIEW_KEYS + sizeof(intervals) / sizeof(intervals[0])];
	struct table t;
	size_t n;

	views_table(w->v, &t);
	n = views_shown(w->v, t.n);
	name_columns(w->v->view, w->v->cpu ? cpu : w->v->intervals ? intervals : plain, columns);
	begin_writing(w, columns, n, t.n);
	for (size_t i = 0; i < n; i++) {
		put_keys(w, t.rows[i].label);
		put_weight(w, t.rows[i].flat[0]);
		put_cpu(w, t.rows[i].flat[1]);
		put_weight(w, t.rows[i].cum[0]);
		put_cpu(w, t.rows[i].cum[1]);
		flush_rows(w);
	}
	end_writing(w);
	table_release(&t);
}

static void trend_rows(struct writing *w)
{
	static const char *const fixed[] = { "name", "time", "weight", "percent", NULL };
	const char *columns[VIEW_KEYS + sizeof(fixed) / sizeof(fixed[0])];
	struct trend_view t;

	trend_view_init(&t, w->v);
	name_columns(w->v->view, fixed, columns);
	begin_writing(w, columns, t.shown, t.table.n);
	for (uint64_t i = 0; i < t.trend.intervals; i++) {
		for (size_t row = 0; row < t.shown; row++) {
			uint64_t weight = trend_view_weight(&t, row, i);

			put_keys(w, t.table.rows[row].label);
			rows_count(&w->rows, (t.trend.first + i) * t.trend.length);
			rows_count(&w->rows, weight);
			rows_number(&w->rows, header_percent(weight, t.trend.total[i]));
			flush_rows(w);
		}
	}
	end_writing(w);
	trend_view_release(&t);
}

static void wakers_rows(struct writing *w)
{
	static const char *const columns[] = { "name", "flat", "flat_percent", "waits", "longest", NULL };
	struct table t;
	size_t n;

	views_table(w->v, &t);
	n = views_shown(w->v, t.n);
	begin_writing(w, columns, n, t.n);
	for (size_t i = 0; i < n; i++) {
		struct slice name = profile_text(w->v->profile, t.rows[i].label);
		struct waker_row row = waker_rows_find(w->v->view->wakers, name);

		put_name(w, t.rows[i].label);
		put_weight(w, t.rows[i].flat[0]);
		rows_count(&w->rows, row.waits);
		rows_count(&w->rows, row.longest);
		flush_rows(w);
	}
	end_writing(w);
	table_release(&t);
}

static void locks_rows(struct writing *w)
{
	static const char *const columns[] = { LOCK_TABLE_COLUMNS, NULL };
	const struct lock_sums *locks = w->v->view->locks;

	begin_writing(w, columns, lock_table_shown(locks, w->v->rows), locks->n_locks);
	lock_table_rows(locks, w->v->rows, &w->rows);
	end_writing(w);
}

static void put_relation(struct writing *w, const struct table_row *row, const char *relation, uint32_t name,
			 uint64_t weight)
{
	put_name(w, row->label);
	rows_count(&w->rows, row->flat[0]);
	rows_count(&w->rows, row->cum[0]);
	rows_text(&w->rows, slice_of(relation));
	put_name(w, name);
	rows_count(&w->rows, weight);
	rows_number(&w->rows, header_percent(weight, row->cum[0]));
	flush_rows(w);
}

static void peek_rows(struct writing *w)
{
	static const char *const columns[] = { "function", "flat", "cum", "relation", "name", "weight", "percent", NULL };
	const struct peek_call *call;
	struct table t;
	struct peek k;
	size_t n, calls;

	views_peek(w->v, &t, &k);
	n = views_shown(w->v, t.n);
	begin_writing(w, columns, n, t.n);
	for (size_t i = 0; i < n; i++) {
		const struct table_row *row = &t.rows[i];

		call = peek_callers(&k, row->label, &calls);
		for (size_t j = 0; j < calls; j++)
			put_relation(w, row, call[j].command ? "command" : "caller", call[j].caller, call[j].weight);
		put_relation(w, row, "self", row->label, row->flat[0]);
		call = peek_callees(&k, row->label, &calls);
		for (size_t j = 0; j < calls; j++)
			put_relation(w, row, "callee", call[j].callee, call[j].weight);
	}
	end_writing(w);
	peek_release(&k);
	table_release(&t);
}

static void stacks_rows(struct writing *w)
{
	static const char *const columns[] = { "flat", "flat_percent", "depth", "stack", NULL };
	struct views_path path = { 0 };
	struct buf text = { 0 };
	struct top_stacks s;
	size_t n;

	if (!top_stacks_init(&s, w->v->profile))
		cli_no_memory();
	n = views_shown(w->v, s.n);
	begin_writing(w, columns, n, s.n);
	for (size_t i = 0; i < n; i++) {
		views_path(w->v, s.list[i].node, &path);
		buf_clear(&text);
		for (size_t f = 0; f < path.n; f++) {
			buf_text(&text, f ? ";" : "");
			view_names_append(w->v->names, path.labels[f], &text);
		}
		if (text.failed)
			cli_no_memory();
		put_weight(w, s.list[i].weight);
		rows_count(&w->rows, path.n);
		rows_text(&w->rows, buf_view(&text));
		flush_rows(w);
	}
	end_writing(w);
	free(path.labels);
	buf_release(&text);
	top_stacks_release(&s);
}

/* Rows are numbered from 1 so that each can refer to its parent: whole paths would take n * n bytes. */
struct above {
	uint64_t *rows; /* by depth: the number of the last row */
	size_t cap;
};

static void put_line(struct writing *w, const struct tree_line *line, struct above *above)
{
	uint64_t number = w->rows.rows + 1;

	if (!grow_array(&above->rows, &above->cap, line->depth, sizeof(*above->rows)))
		cli_no_memory();
	above->rows[line->depth] = number;
	rows_count(&w->rows, number);
	if (line->depth)
		rows_count(&w->rows, above->rows[line->depth - 1]);
	else
		rows_null(&w->rows);
	rows_count(&w->rows, line->depth);
	if (line->more)
		rows_null(&w->rows);
	else
		put_name(w, w->v->profile->nodes[line->node].label);
	rows_count(&w->rows, line->more);
	put_weight(w, line->total);
	put_weight(w, line->self);
	flush_rows(w);
}

static void tree_rows(struct writing *w)
{
	static const char *const columns[] = { "row", "parent", "depth", "name", "more", "total", "total_percent", "self",
					       "self_percent", NULL };
	struct above above = { 0 };
	struct tree_line line;
	struct tree t;

	if (!tree_init(&t, w->v->profile, views_least(w->v), w->v->depth))
		cli_no_memory();
	begin_writing(w, columns, 0, 0);
	while (tree_next(&t, &line))
		put_line(w, &line, &above);
	if (t.failed)
		cli_no_memory();
	end_writing(w);
	tree_release(&t);
	free(above.rows);
}

void views_rows(const struct views *v, enum rows_format format, const struct loaded *l, struct buf *out)
{
	static void (*const shapes[])(struct writing *) = {
		[SHAPE_TABLE] = table_rows, [SHAPE_PEEK] = peek_rows,
		[SHAPE_STACKS] = stacks_rows, [SHAPE_TREE] = tree_rows, [SHAPE_TREND] = trend_rows,
	};
	struct view_names names;
	struct views named = *v;
	struct writing w = { .v = &named, .format = format, .l = l, .out = out };

	view_names_init(&names, v->profile, v->view, v->modules);
	named.names = &names;
	if (v->view->locks)
		locks_rows(&w);
	else if (v->view->wakers && v->shape == SHAPE_TABLE)
		wakers_rows(&w);
	else
		shapes[v->shape](&w);
	view_names_release(&names);
}
