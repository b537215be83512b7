/*
 * The parts of cprof-diff: its two sides are read, compared, judged and printed.
 *
 *	status = sides_load(settings.sides, &filters, &findings.p, &findings.setup, true);
 *	if (!sides_comparable(settings.sides)) ...
 *	diff_warn(&findings.p, settings.sides, &filters);
 *	diff_compare(&findings, &settings);
 *	diff_print_table(&findings, &settings, &filters);
 *	verdict = diff_judge(&findings, &settings);
 *
 * All of them print their messages on stderr, and exit if memory runs out.
 */
#ifndef CPROF_DIFF_DIFF_H
#define CPROF_DIFF_DIFF_H

#include "cmd/shared/filters.h"
#include "cmd/shared/input.h"
#include "cmd/shared/sides.h"
#include "common/export/output_rows.h"
#include "common/views/table_view.h"
#include "common/stats/changes.h"

struct diff_settings {
	bool folded, raw, significant, has_rows, program; /* program: output for programs */
	enum rows_format format;
	bool md;       /* a brief */
	size_t budget; /* bytes of the brief; 0: not given */
	double fail_above; /* percentage points; negative: no gate */
	size_t rows;
	struct side sides[PROFILE_SIDES];
};

/* The results, ready to print. */
struct diff_findings {
	struct profile p;
	struct table table;
	struct changes_setup setup;
	struct changes changes;
	size_t rows; /* rows of the table to print */
	double padded; /* not normalized: the weight that intervals of changes are shares of; 0: no test */
};

/*
 * warn.c, called after reading: warns of differences between the sides that make the comparison less
 * reliable.
 */
void diff_warn(const struct profile *p, const struct side *sides, const struct filters *f);

/* print.c: compares the functions and sorts the table. */
void diff_compare(struct diff_findings *o, const struct diff_settings *s);
/*
 * Print to stdout: the table for people, rows for programs, or the profile of both sides as folded text.
 * Folded text needs no diff_compare.
 */
void diff_print_table(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f);
void diff_print_program(const struct diff_findings *o, enum rows_format format, const struct view *v);
void diff_print_folded(struct profile *p, bool raw);

/*
 * gate.c: the gate of --fail-above: STATUS_GREW if a function grew significantly and by at least the given
 * points.
 */
enum status diff_judge(const struct diff_findings *o, const struct diff_settings *s);

/* Returns the tested change of a row of the table. */
static inline const struct changes_row *diff_change_of(const struct diff_findings *o, size_t row)
{
	return &o->changes.by_label[o->table.rows[row].label];
}

/* Returns the value of a cell: percent of the side's total, or the weight if raw. */
static inline double diff_cell(const struct profile *p, const uint64_t *weight, unsigned int side, bool raw)
{
	if (raw)
		return (double)weight[side];
	return p->total[side] ? 100.0 * (double)weight[side] / (double)p->total[side] : 0;
}

/* Returns the change from side 0 to side 1: percentage points, or weight if raw. */
static inline double diff_change(const struct profile *p, const uint64_t *weight, bool raw)
{
	return diff_cell(p, weight, 1, raw) - diff_cell(p, weight, 0, raw);
}

#endif
