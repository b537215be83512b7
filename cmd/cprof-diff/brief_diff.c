#include "cmd/cprof-diff/brief_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/shared/facts/brief_facts.h"
#include "cmd/shared/facts/summary.h"

enum { FIRST_ROWS = 3 };

/* Which lines are chosen first. */
enum { FACTS, ROWS_FIRST, DOUBTS, NEXT, ROWS_LATER };

static void add_facts(const struct diff_findings *o, const struct filters *f, char *const *arguments,
		      struct brief *b)
{
	struct buf text = { 0 };

	brief_title(b, "# cprof-diff: %zu of %zu changed, at a false-discovery rate of 5 %%",
		    o->changes.changed, o->table.n);
	brief_section(b, "Input", NULL);
	brief_command(&text, "cprof-diff", "", arguments);
	brief_line(b, FACTS, "- %s", buf_cstr(&text));
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		brief_line(b, FACTS, "- %c: %" PRIu64 " %s", "AB"[side], o -> p.total[side],
			   view_unit(&f->view));
	b->failed = b->failed || text.failed;
	buf_release(&text);
}

static void add_row(const struct diff_findings *o, size_t i, struct brief *b)
{
	const struct table_row *row = &o->table.rows[i];
	const struct changes_row *of = diff_change_of(o, i);
	bool cum = fabs(diff_change(&o->p, row->cum, false)) > fabs(diff_change(&o->p, row->flat, false));
	const uint64_t *weight = cum ? row->cum : row->flat;
	const struct change *c = cum ? &of->cum : &of->flat;
	struct buf name = { 0 };

	brief_name(&name, profile_text(&o->p, row->label));
	brief_line(b, i < FIRST_ROWS ? ROWS_FIRST : ROWS_LATER,
		   "| %s | %s | %.3g | %.3g | %+.3g | %+.3g to %+.3g | %.3g | %s |",
		   changes_significant(of) ? "yes" : "not proven", cum ? "cum" : "flat",
		   diff_cell(&o->p, weight, 0, false), diff_cell(&o->p, weight, 1, false),
		   diff_change(&o->p, weight, false), 100 * c->interval.low, 100 * c->interval.high, c->q,
		   buf_cstr(&name));
	b->failed = b->failed || name.failed;
	buf_release(&name);
}

static const char *basis_of(const struct diff_findings *o)
{
	const struct changes *c = &o->changes;

	if (!isfinite(o->setup.unit[0]) || !isfinite(o->setup.unit[1]) || !o->p.total[0] || !o->p.total[1])
		return "Nothing could be tested: a side has no samples, or their number is unknown.";
	if (c->runs[0] || c->runs[1])
		return "Chance is estimated from the differences between the captures of a side.";
	if (c->blocks[0] || c->blocks[1])
		return "Chance is estimated from the differences between blocks of time.";
	return "Chance is estimated as for independent samples, and bursts make it larger.";
}

static void add_doubts(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f,
		       struct brief *b)
{
	double growth = 100 * changes_detectable_at(&o->changes, &o->p, &o->setup, 0.01);

	brief_section(b, "How sure", NULL);
	brief_line(b, DOUBTS, "- %s", basis_of(o));
	if (isfinite(o->setup.unit[0]) && isfinite(o->setup.unit[1]) && o->p.total[0] && o->p.total[1])
		brief_line(b, DOUBTS,
			   "- Intervals are of one row alone: of %zu tests, 1 in 20 may exclude 0 by chance. A row is "
			   "proven only if its q is below %.2g.",
			   o->changes.tests, COMPARE_RATE);
	if (o->changes.long_bursts)
		brief_line(b, DOUBTS, "- Bursts are longer than a block: chance may be larger.");
	if (o->p.total[0] && o->p.total[1] && isfinite(growth))
		brief_line(b, DOUBTS,
			   "- Growth from a share of 1 %% is found in 4 of 5 cases from %.2f points on.",
			   growth);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++) {
		if (s->sides[side].samples < SUMMARY_FEW)
			brief_line(b, DOUBTS, "- %c has fewer than %d samples.", "AB"[side], SUMMARY_FEW);
	}
	brief_section(b, "Not known", NULL);
	brief_losses(b, DOUBTS, "A: ", &s->sides[0].loaded, &f->view);
	brief_losses(b, DOUBTS, "B: ", &s->sides[1].loaded, &f->view);
}

static void add_next(const struct diff_findings *o, const struct diff_settings *s, char *const *arguments,
		     struct brief *b)
{
	static const char *const more[] = { "--significant", "-n 0" };
	size_t runs = s->sides[0].n < s->sides[1].n ? s->sides[0].n : s->sides[1].n;

	brief_section(b, "Next", NULL);
	for (size_t i = o->changes.changed ? 0 : 1; i < sizeof(more) / sizeof(more[0]); i++) {
		struct buf text = { 0 };

		brief_command(&text, "cprof-diff", more[i], arguments);
		brief_line(b, NEXT, "- %s — %s", buf_cstr(&text), i == 0 ? "only these changes" : "all rows");
		b->failed = b->failed || text.failed;
		buf_release(&text);
	}
	if (runs < 3)
		brief_line(b, NEXT,
			   "- Record three captures a side: `cprof-diff A1 A2 A3 -- B1 B2 B3` also sees the "
			   "differences between runs.");
}

void diff_print_brief(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f,
		      char *const *arguments)
{
	size_t rows = s->rows && s->rows < o->rows ? s->rows : o->rows;
	struct brief b = { .budget = s->budget };
	struct buf out = { 0 };

	add_facts(o, f, arguments, &b);
	brief_section(&b, "What changed, in percent of each side",
		      "| changed | of | A | B | change | 95 % | q | name |\n"
		      "|---|---|---:|---:|---:|---|---:|---|\n");
	for (size_t i = 0; i < rows; i++)
		add_row(o, i, &b);
	add_doubts(o, s, f, &b);
	add_next(o, s, arguments, &b);
	brief_write(&b, &out);
	if (b.failed || out.failed)
		cli_no_memory();
	fwrite(out.p, 1, out.n, stdout);
	buf_release(&out);
	brief_release(&b);
}
