#include "cmd/cprof-top/brief_top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cprof-top/lock_table.h"
#include "cmd/cprof-top/trend_view.h"
#include "cmd/cprof-top/what_if_view.h"
#include "cmd/shared/facts/header.h"
#include "cmd/shared/facts/summary.h"
#include "cmd/shared/keys.h"
#include "common/views/top_stacks.h"

enum { FIRST_ROWS = 3, STACKS = 3, FRAMES = 6 };

/* Which lines are chosen first. */
enum { FACTS, ROWS_FIRST, DOUBTS, NEXT, SHOWN_STACKS, ROWS_LATER };

/* Appends a name as it is shown in a table. */
static void put_name(const struct views *v, uint32_t label, struct buf *out)
{
	struct buf name = { 0 };

	view_names_append(v->names, label, &name);
	brief_name(out, buf_view(&name));
	out->failed = out->failed || name.failed;
	buf_release(&name);
}

static double percent_of(const struct views *v, uint64_t weight)
{
	return header_percent(weight, v->profile->total[0]);
}

/* Returns whether waits are a part of the weight. They are measured, so their shares have no intervals. */
static bool has_waits(const struct views *v, const struct loaded *l)
{
	uint64_t waits = 0;

	for (size_t i = DOING_SLEEPING; i < DOINGS; i++)
		waits += l->sums.doing[i];
	return v->view->blame != BLAME_CULPRITS && waits;
}

/* Returns whether the number of samples is known, so that shares have intervals. */
static bool is_counted(const struct views *v, const struct loaded *l)
{
	return v->profile->total[0] && !has_waits(v, l) && (v->view->weight == WEIGHT_SAMPLES || !l->texts);
}

static double samples_of(const struct views *v)
{
	return v->view->weight == WEIGHT_SAMPLES ? (double)v->profile->total[0] : v->samples;
}

static void add_title(const struct views *v, struct brief *b)
{
	const struct lock_sums *locks = v->view->locks;
	struct buf text = { 0 };
	char weight[32];

	for (size_t i = 0; i < keys_columns(v->view); i++)
		buf_printf(&text, "%s%s", i ? ", " : "", keys_name(v->view, i));
	if (v->view->what_if) {
		what_if_brief_title(v->view->what_if, b);
	} else if (locks) {
		views_time(weight, sizeof(weight), lock_table_ns(locks));
		brief_title(b, "# cprof-top: %s of waits for %zu locks", weight, locks->n_locks);
	} else {
		views_weight_text(v, weight, sizeof(weight), v->profile->total[0]);
		brief_title(b, "# cprof-top: %s%s%s, by %s", weight, v->view->weight == WEIGHT_NS ? "" : " ",
			    v->view->weight == WEIGHT_NS ? "" : view_unit(v->view), buf_cstr(&text));
	}
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

/* Adds the lines of the header: the recording, the options that select samples, and the summary. */
static void add_about(const struct views *v, const struct loaded *l, const struct brief_request *r,
		      struct brief *b)
{
	struct buf name = { 0 }, facts = { 0 }, text = { 0 };

	about_name(&l->about, "", &name);
	about_facts(&l->about, l->totals.seconds_ns, false, &facts);
	if (name.n)
		brief_code(&text, buf_view(&name));
	buf_text(&text, name.n && facts.n ? ", " : "");
	buf_bytes(&text, facts.p, facts.n);
	if (text.n)
		brief_line(b, FACTS, "- %s.", buf_cstr(&text));
	buf_clear(&text);
	if (r->filters[0]) {
		brief_code(&text, slice_of(r->filters));
		brief_line(b, FACTS, "- Selected by %s.", buf_cstr(&text));
		buf_clear(&text);
	}
	if (!v->view->locks && !v->view->what_if) {
		summary_append(&text, l, v->view, r->share);
		brief_line(b, FACTS, "- %s.", buf_cstr(&text));
	}
	b->failed = b->failed || text.failed || name.failed || facts.failed;
	buf_release(&name);
	buf_release(&facts);
	buf_release(&text);
}

static void add_facts(const struct views *v, const struct loaded *l, const struct brief_request *r,
		      struct brief *b)
{
	struct buf text = { 0 };

	add_title(v, b);
	brief_section(b, "Input", NULL);
	brief_command(&text, "cprof-top", "", r->arguments);
	brief_line(b, FACTS, "- %s", buf_cstr(&text));
	if (l->streams)
		add_about(v, l, r, b);
	if (l->streams)
		brief_line(b, FACTS, "- Recorded in %.2f s: %" PRIu64 " samples, %" PRIu64 " of them waits.",
			   (double)l->totals.seconds_ns / 1e9, l->totals.samples, l->totals.waits);
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

static void add_row(const struct views *v, const struct table_row *row, bool counted, size_t priority,
		    struct brief *b)
{
	struct interval i = views_interval(v, row->flat[0]);
	char flat[32], cum[32], interval[64] = "";
	struct buf name = { 0 };

	put_name(v, row->label, &name);
	if (counted)
		snprintf(interval, sizeof(interval), "%.3g to %.3g ", 100 * i.low, 100 * i.high);
	brief_line(b, priority, "| %s | %.3g | %s| %s | %.3g | %s |",
		   views_weight_text(v, flat, sizeof(flat), row->flat[0]), percent_of(v, row->flat[0]),
		   interval, views_weight_text(v, cum, sizeof(cum), row->cum[0]),
		   percent_of(v, row->cum[0]), buf_cstr(&name));
	b->failed = b->failed || name.failed;
	buf_release(&name);
}

static void add_table(const struct views *v, const struct loaded *l, const struct table *t, struct brief *b)
{
	bool counted = is_counted(v, l);

	brief_section(b, "Where it went",
		      "| flat | flat % | 95 % | cum | cum % | name |\n|---:|---:|---|---:|---:|---|\n");
	for (size_t i = 0; i < views_shown(v, t->n); i++)
		add_row(v, &t->rows[i], counted, i < FIRST_ROWS ? ROWS_FIRST : ROWS_LATER, b);
}

/* A stack, innermost frame first, with its command as the last; frames between may be left out. */
static void add_stack(const struct views *v, const struct top_stacks_item *it, struct views_path *path,
		      struct brief *b)
{
	struct buf text = { 0 };
	char weight[32];

	views_path(v, it->node, path);
	for (size_t i = path->n; i > 0; i--) {
		if (path->n - i >= FRAMES && i > 1)
			continue;
		buf_text(&text, i == path->n ? "" : i == 1 && path->n > FRAMES + 1 ? " < … < " : " < ");
		put_name(v, path->labels[i - 1], &text);
	}
	views_weight_text(v, weight, sizeof(weight), it->weight);
	brief_line(b, SHOWN_STACKS, "- %s (%.3g %%): %s", weight, percent_of(v, it->weight),
		   buf_cstr(&text));
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

static void add_stacks(const struct views *v, struct brief *b)
{
	struct views_path path = { 0 };
	struct top_stacks s;

	brief_section(b, "Heaviest stacks, innermost frame first", NULL);
	if (!top_stacks_init(&s, v->profile))
		cli_no_memory();
	for (size_t i = 0; i < s.n && i < STACKS; i++)
		add_stack(v, &s.list[i], &path, b);
	free(path.labels);
	top_stacks_release(&s);
}

/* Returns how many shown rows from the first on may have its share: their intervals overlap. */
static size_t count_alike(const struct views *v, const struct table *t)
{
	size_t n = 0;

	while (n < t->n &&
	       views_interval(v, t->rows[n].flat[0]).high >= views_interval(v, t->rows[0].flat[0]).low)
		n++;
	return n;
}

static void add_doubts(const struct views *v, const struct loaded *l, const struct table *t, struct brief *b)
{
	double n = samples_of(v);

	brief_section(b, "How sure", NULL);
	if (has_waits(v, l)) {
		brief_line(b, DOUBTS, "- Waits are measured, not sampled, so shares have no intervals.");
	} else if (!is_counted(v, l)) {
		brief_line(b, DOUBTS, "- The number of samples is unknown, so shares have no intervals.");
	} else {
		size_t alike = count_alike(v, t);

		brief_line(b, DOUBTS,
			   "- %.0f samples; intervals hold for independent ones, and bursts make them wider.",
			   n);
		if (n < SUMMARY_FEW)
			brief_line(b, DOUBTS, "- Fewer than %d samples: take the shares as rough.",
				   SUMMARY_FEW);
		if (alike > 1)
			brief_line(
				b, DOUBTS,
				"- The order of the first %zu rows may be chance: their intervals overlap.",
				alike);
	}
	brief_section(b, "Not known", NULL);
	brief_losses(b, DOUBTS, "", l, v->view);
}

/* Appends an option whose argument is an expression for exactly this name. */
static void put_expression(struct buf *out, const char *option, struct slice name)
{
	struct buf text = { 0 };

	buf_byte(&text, '^');
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] && strchr("\\^$.[]|()*+?{}", name.p[i]))
			buf_byte(&text, '\\');
		buf_byte(&text, name.p[i]);
	}
	buf_byte(&text, '$');
	buf_printf(out, "%s ", option);
	brief_quote(out, buf_view(&text));
	out->failed = out->failed || text.failed;
	buf_release(&text);
}

static void add_command(const struct brief_request *r, const char *program, const char *more, const char *why,
			struct brief *b)
{
	struct buf text = { 0 };

	brief_command(&text, program, more, r->arguments);
	brief_line(b, NEXT, "- %s — %s", buf_cstr(&text), why);
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

static void add_next(const struct views *v, const struct loaded *l, const struct table *t,
		     const struct brief_request *r, struct brief *b)
{
	bool has_stacks = view_frame_keys(v->view) && v->view->n_keys < 2 && !view_has_key(v->view, BY_LANGUAGE);
	struct buf more = { 0 };

	brief_section(b, "Next", NULL);
	if (l->streams && !l->sums.symbols && l->sums.unresolved)
		brief_line(b, NEXT, "- `cprof-sym` names the functions: the captures have no names yet.");
	if (t->n && has_stacks) {
		put_expression(&more, "--peek", view_names_shown(v->names, t->rows[0].label));
		add_command(r, "cprof-top", buf_cstr(&more), "callers and callees of the first row", b);
		add_command(r, "cprof-top", "--stacks 10", "whole stacks", b);
	}
	if (l->totals.waits && !v->view->wall && !v->view->n_events)
		add_command(r, "cprof-top", "--wall", "with the time that threads waited", b);
	if (v->view->n_keys == 0 && l->streams)
		add_command(r, "cprof-top", "--by thread", "which threads", b);
	b->failed = b->failed || more.failed;
	buf_release(&more);
}

static void brief_locks(const struct views *v, const struct loaded *l, const struct brief_request *r,
			struct buf *out)
{
	struct brief b = { .budget = r->budget };

	add_facts(v, l, r, &b);
	lock_table_brief(v->view->locks, v->rows, ROWS_FIRST, ROWS_LATER, &b);
	brief_section(&b, "Not known", NULL);
	brief_line(&b, DOUBTS, "- Only long waits are known by lock; short ones are added up without it.");
	brief_losses(&b, DOUBTS, "", l, v->view);
	brief_section(&b, "Next", NULL);
	add_command(r, "cprof-fold", "", "the holders' stacks meanwhile", &b);
	brief_write(&b, out);
	if (b.failed || out->failed)
		cli_no_memory();
	brief_release(&b);
}

static void brief_what_if(const struct views *v, const struct loaded *l, const struct brief_request *r,
			  struct buf *out)
{
	const struct what_if *w = v->view->what_if;
	struct brief b = { .budget = r->budget };

	add_facts(v, l, r, &b);
	what_if_brief(w, v->rows, ROWS_FIRST, ROWS_LATER, &b);
	brief_section(&b, "How sure", NULL);
	what_if_brief_doubts(w, DOUBTS, &b);
	brief_section(&b, "Not known", NULL);
	brief_losses(&b, DOUBTS, "", l, v->view);
	brief_section(&b, "Next", NULL);
	if (!w->by_thread)
		add_command(r, "cprof-top", "--by thread", "which threads", &b);
	brief_write(&b, out);
	if (b.failed || out->failed)
		cli_no_memory();
	brief_release(&b);
}

void brief_top(const struct views *views, const struct loaded *l, const struct brief_request *r, struct buf *out)
{
	struct brief b = { .budget = r->budget };
	struct views named = *views, *v = &named;
	struct view_names names;
	struct table t;

	if (v->view->locks) {
		brief_locks(v, l, r, out);
		return;
	}
	if (v->view->what_if) {
		brief_what_if(v, l, r, out);
		return;
	}
	view_names_init(&names, v->profile, v->view, v->modules);
	named.names = &names;
	views_table(v, &t);
	add_facts(v, l, r, &b);
	add_table(v, l, &t, &b);
	if (v->shape == SHAPE_TREND)
		trend_brief(v, &b, ROWS_FIRST);
	if (view_frame_keys(v->view) && v->view->n_keys < 2)
		add_stacks(v, &b);
	add_doubts(v, l, &t, &b);
	add_next(v, l, &t, r, &b);
	brief_write(&b, out);
	if (b.failed || out->failed)
		cli_no_memory();
	brief_release(&b);
	view_names_release(&names);
	table_release(&t);
}
