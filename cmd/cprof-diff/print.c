#include "cmd/cprof-diff/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/shared/folded_print.h"
#include "cmd/shared/keys.h"
#include "cmd/shared/terminal/text_colour.h"
#include "common/export/changed.h"
#include "common/stats/normalize.h"
#include "common/stats/pad_runs.h"

enum { RAW_RUNS = 3 }; /* captures a side that weights are tested with */

void diff_print_folded(struct profile *p, bool raw)
{
	if (!raw && !normalize(p))
		cli_no_memory();
	folded_print(p, PROFILE_SIDES);
}

/*
 * Prints the columns of the keys, two spaces between them, and the end of the line. after: ends the colour.
 */
static void print_name(const struct diff_findings *o, const struct table_row *row, const char *after)
{
	struct slice name = profile_text(&o->p, row->label);

	printf("%-4s  ", !row->cum[0] ? "new" : !row->cum[1] ? "gone" : "");
	for (size_t i = 0; i < name.n; i++)
		printf(name.p[i] == PROJECTION_PART ? "  " : "%c", name.p[i]);
	printf("%s\n", after);
}

/* Writes a bound; one that excludes 0, but is rounded to it, as the side of 0 on which the change is. */
static void bound_text(char *to, size_t size, int places, double bound, bool excludes, bool grew)
{
	if (excludes && fabs(bound) < (places ? 0.005 : 0.5))
		snprintf(to, size, "%s", grew ? ">0" : "<0");
	else
		snprintf(to, size, "%+.*f", places, bound);
}

/* Prints [low, high] of a change. scale: what a share of 1 is shown as. */
static void print_bounds(const struct change *c, double scale, int places, bool grew)
{
	bool excludes = c->q < COMPARE_RATE;
	char interval[64], low[24], high[24];

	bound_text(low, sizeof(low), places, scale * c->adjusted.low, excludes && grew, true);
	bound_text(high, sizeof(high), places, scale * c->adjusted.high, excludes && !grew, false);
	snprintf(interval, sizeof(interval), "[%s, %s]", low, high);
	printf("%c%-18s ", excludes ? ' ' : '~', interval);
}

static void print_raw(const struct diff_findings *o)
{
	const char *bounds = o->padded > 0 ? " [adjusted]        " : "";

	printf("%10s %10s %10s %s %10s %10s %10s%s\n", "flat A", "flat B", "change", bounds, "cum A", "cum B",
	       "change", o->padded > 0 ? "  [adjusted]" : "");
	for (size_t i = 0; i < o->rows; i++) {
		const struct table_row *row = &o->table.rows[i];
		const uint64_t *kinds[] = { row->flat, row->cum };

		for (unsigned int kind = 0; kind < 2; kind++) {
			printf("%10" PRIu64 " %10" PRIu64 " %+10.0f ", kinds[kind][0], kinds[kind][1],
			       diff_change(&o->p, kinds[kind], true));
			if (o->padded > 0)
				print_bounds(kind ? &diff_change_of(o, i)->cum : &diff_change_of(o, i)->flat,
					     o->padded, 0, diff_change(&o->p, kinds[kind], true) > 0);
			else
				printf(" ");
		}
		print_name(o, row, "");
	}
}

/* Returns the colour of a row that changed, for growth or its opposite by the larger change; or "". */
static const char *colour_of_row(const struct diff_findings *o, size_t row)
{
	double flat = diff_change(&o->p, o->table.rows[row].flat, false);
	double cum = diff_change(&o->p, o->table.rows[row].cum, false);

	if (!changes_significant(diff_change_of(o, row)))
		return "";
	return (fabs(cum) > fabs(flat) ? cum : flat) > 0 ? COLOUR_HOT : COLOUR_FELL;
}

static void print_cells(const struct profile *p, const uint64_t *weight, const struct change *c)
{
	printf("%6.2f%% %6.2f%% %+8.2f ", diff_cell(p, weight, 0, false), diff_cell(p, weight, 1, false),
	       diff_change(p, weight, false));
	print_bounds(c, 100, 2, diff_change(p, weight, false) > 0);
}

static void print_rows(const struct diff_findings *o)
{
	bool colours = colour_on();

	for (unsigned int kind = 0; kind < 2; kind++)
		printf("%7s %7s %8s  %s", kind ? "cum A" : "flat A", kind ? "cum B" : "flat B", "change",
		       kind ? "[adjusted]\n" : "[adjusted]         ");
	for (size_t i = 0; i < o->rows; i++) {
		const struct table_row *row = &o->table.rows[i];
		const char *colour = colours ? colour_of_row(o, i) : "";

		printf("%s", colour);
		print_cells(&o->p, row->flat, &diff_change_of(o, i)->flat);
		print_cells(&o->p, row->cum, &diff_change_of(o, i)->cum);
		print_name(o, row, colour[0] ? COLOUR_PLAIN : "");
	}
}

/* Prints how chance was measured, because the verdict is only valid under that assumption. */
static void print_basis(const struct diff_findings *o, const struct side *sides)
{
	const struct changes *c = &o->changes;

	if (!isfinite(o->setup.unit[0]) || !isfinite(o->setup.unit[1])) {
		printf("no test: nanoseconds in folded text do not give the number of samples\n");
	} else if (!o->p.total[0] || !o->p.total[1]) {
		printf("no test: %s no samples\n",
		       o->p.total[0] ? "B has" : o->p.total[1] ? "A has" : "A and B have");
	} else if (c->runs[0] || c->runs[1]) {
		printf("chance is estimated from the differences between %sthe captures of a side%s\n",
		       c->model.basis == DESIGN_EFFECT_MIXED ? "blocks of time, or between " : "",
		       c->model.basis == DESIGN_EFFECT_MIXED ? " if these are larger; three captures a side would be enough alone" : "");
	} else if (c->blocks[0] && c->blocks[1]) {
		printf("chance is estimated from the differences between blocks of time: %" PRIu32 " of %.2f s and %" PRIu32 " of %.2f s\n",
		       c->blocks[0], c->slices[0] * CHANGES_SLICE_MS / 1e3, c->blocks[1],
		       c->slices[1] * CHANGES_SLICE_MS / 1e3);
	} else if (c->blocks[0] || c->blocks[1]) {
		printf("chance is estimated from the differences between blocks of time of %s; the other side is folded text, which has none\n",
		       sides[!c->blocks[0]].title);
	} else {
		printf("chance is estimated as for independent samples: bursts are unknown, because %s\n",
		       o->setup.timed[0] || o->setup.timed[1] ?
		       "the compared part of a capture is shorter than a second" : "folded text has no time");
	}
}

/* A weight varies with the length of its run, so only several runs can show chance. */
static bool print_untested(const struct diff_findings *o, const struct diff_settings *s)
{
	/* One text counts as one run, though its side has none. */
	const struct side *a = &s->sides[0], *b = &s->sides[1];
	const uint32_t runs[] = { a->runs + !a->runs, b->runs + !b->runs };

	if (o->padded > 0)
		return false;
	if (runs[0] != runs[1])
		printf("no test: %" PRIu32 " captures are not comparable with %" PRIu32 " by weight\n",
		       runs[0], runs[1]);
	else if (runs[0] < RAW_RUNS)
		printf("no test: record each side three times, to see what is chance\n");
	else
		print_basis(o, s->sides);
	return true;
}

static void print_verdict(const struct diff_findings *o, const struct diff_settings *s, const struct view *v)
{
	const struct changes *c = &o->changes;

	if (s->raw && print_untested(o, s))
		return;
	printf(SIDES_CHANGED "\n", c->changed, o->table.n, keys_things(v));
	printf("intervals are adjusted for all %zu tests, so that those without ~ exclude 0\n", c->tests);
	print_basis(o, s->sides);
	if (c->long_bursts)
		printf("bursts are longer than a block, so chance may be larger than estimated: "
		       "record longer captures, or three a side\n");
	if (s->raw || !o->p.total[0] || !o->p.total[1])
		return;
	printf("growth that would be detected in 4 of 5 cases:");
	for (unsigned int share = 1; share <= 10; share *= 10) {
		double growth = 100 * changes_detectable_at(c, &o->p, &o->setup, share / 100.0);

		if (isfinite(growth))
			printf("%s %.2f points from %u %%", share > 1 ? "," : "", growth, share);
		else
			printf("%s none from %u %%", share > 1 ? "," : "", share);
	}
	printf("\n");
	if (c->changed)
		printf("shares add up to 100 %%: a function that grew makes others shrink; --no-normalize "
		       "compares weights\n");
	else if (!isfinite(o->setup.unit[0]) || !isfinite(o->setup.unit[1]))
		return;
	else if (s->sides[0].shared)
		printf("to find smaller changes, record for longer, or with a higher -F\n");
	else if (s->sides[0].runs < 2 || s->sides[1].runs < 2)
		printf("to find smaller changes, record each side three times, or with a higher -F\n");
}

void diff_print_table(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f)
{
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		printf("%c: %s, %" PRIu64 " %s\n", "AB"[side], s->sides[side].title, o->p.total[side],
		       view_unit(&f->view));
	print_verdict(o, s, &f->view);
	printf("%zu of %zu rows shown, %s%s\n\n", o->rows, o->table.n,
	       s->raw ? "not normalized" : "in percent of each side",
	       s->raw && !(o->padded > 0) ? "" : "; ~ may be chance");
	if (s->raw)
		print_raw(o);
	else
		print_rows(o);
}

void diff_print_program(const struct diff_findings *o, enum rows_format format, const struct view *v)
{
	const char *columns[VIEW_KEYS + CHANGED_COLUMNS];
	struct rows r;

	for (size_t i = 0; i < v->n_keys; i++)
		columns[i] = keys_name(v, i);
	if (!changed_init(&r, format, columns, v->n_keys))
		cli_usage("-o ndjson and json are not available: built without jansson");
	for (size_t i = 0; i < o->rows; i++) {
		changed_add(&r, &o->p, &o->changes, &o->table.rows[i], v->n_keys);
		fwrite(r.out.p, 1, r.out.n, stdout);
		buf_clear(&r.out);
	}
	rows_end(&r);
	fwrite(r.out.p, 1, r.out.n, stdout);
	if (r.failed)
		cli_no_memory();
	rows_release(&r);
}

/*
 * Puts significant rows first, then sorts by the largest change, flat or cumulative; among equal ones, a
 * function comes before its callers.
 */
static void sort_rows(struct diff_findings *o, const struct diff_settings *s)
{
	enum { ABOVE_ALL = 1000 };
	const uint64_t *total = o->p.total;
	double above_all = s->raw ? 1 + (double)total[0] + (double)total[1] : ABOVE_ALL;
	struct table *t = &o->table;

	for (size_t i = 0; i < t->n; i++) {
		double flat = fabs(diff_change(&o->p, t->rows[i].flat, s->raw));
		double cum = fabs(diff_change(&o->p, t->rows[i].cum, s->raw));

		t->rows[i].key = flat > cum ? flat : cum;
		t->rows[i].second = flat;
		if ((!s->raw || o->padded > 0) && changes_significant(diff_change_of(o, i)))
			t->rows[i].key += above_all;
	}
	table_sort(t, &o->p);
	o->rows = s->significant ? o->changes.changed : t->n;
	if (s->rows && s->rows < o->rows && (!s->program || s->has_rows))
		o->rows = s->rows;
}

/* Tests the weights of several runs a side. Fewer do not show by how much a run's weight varies. */
static void compare_weights(struct diff_findings *o)
{
	const uint64_t total[PROFILE_SIDES] = { o->p.total[0], o->p.total[1] };
	struct changes_setup setup = o->setup;

	if (setup.runs[0] != setup.runs[1] || setup.runs[0] < RAW_RUNS || !total[0] || !total[1] ||
	    !isfinite(setup.unit[0]) || !isfinite(setup.unit[1]))
		return;
	setup.timed[0] = setup.timed[1] = false;
	if (!pad_runs(&o->p, setup.runs) || !changes_init(&o->changes, &o->table, &o->p, &setup))
		cli_no_memory();
	o->padded = (double)o->p.total[0];
	memcpy(o->p.total, total, sizeof(total));
}

void diff_compare(struct diff_findings *o, const struct diff_settings *s)
{
	if (!table_init(&o->table, &o->p))
		cli_no_memory();
	if (s->raw)
		compare_weights(o);
	else if (!changes_init(&o->changes, &o->table, &o->p, &o->setup))
		cli_no_memory();
	sort_rows(o, s);
}
