/*
 * What cprof-diff is made of: its two sides are read, compared, judged and printed.
 *
 *	status = diff_load(&filters, &findings, &settings);	// every operand of both sides
 *	if (!diff_comparable(settings.sides)) ...
 *	diff_warn(&findings.p, settings.sides, &filters);
 *	diff_compare(&findings, &settings);
 *	diff_print_table(&findings, &settings, &filters);
 *	verdict = diff_judge(&findings, &settings);
 *
 * All of them say on stderr what is to be said, and end the program where memory runs out.
 */
#ifndef CPROF_CMD_DIFF_H
#define CPROF_CMD_DIFF_H

#include "cmd/filters.h"
#include "cmd/operand.h"
#include "common/export/rows.h"
#include "common/profile/table.h"
#include "common/stats/changes.h"

/* One side of the comparison: its operands and what they gave. */
struct diff_side {
	char **names;
	size_t n, cap;
	char title[256]; /* for messages */
	struct loaded loaded;
	double samples;  /* not finite: nobody knows how many */
	uint32_t runs;
	bool had;        /* samples, before the options */
};

struct diff_settings {
	bool folded, raw, significant, has_rows, program; /* raw: not normalized; program: rows for one */
	enum rows_format format;
	double fail_above; /* points; below 0: not asked */
	size_t rows;
	struct diff_side sides[PROFILE_SIDES];
};

/* What there is to print. */
struct diff_findings {
	struct profile p;
	struct table table;
	struct changes_setup setup;
	struct changes changes;
	size_t rows; /* of the table, to be shown */
};

/* diffload.c: reads every operand, and returns the status to end with as far as that goes. */
enum status diff_load(struct filters *f, struct diff_findings *o, struct diff_settings *s);
/* Is there something to compare? One side may be empty. */
bool diff_comparable(const struct diff_side *sides);

/* diffwarn.c, before anything is read: a file that counts twice is a slip of the hand more often than not. */
void diff_warn_twice(const struct diff_settings *s);
/* And afterwards: why what is compared may be less alike than it should. */
void diff_warn(const struct profile *p, const struct diff_side *sides, const struct filters *f);

/* diffprint.c: makes the table, in its order. */
void diff_compare(struct diff_findings *o, const struct diff_settings *s);
/* To stdout: that table, for people or for programs; or the profile of both sides as folded text, which needs none. */
void diff_print_table(const struct diff_findings *o, const struct diff_settings *s, const struct filters *f);
void diff_print_program(const struct diff_findings *o, enum rows_format format);
void diff_print_folded(struct profile *p, bool raw);

/* diffjudge.c, the status to end with: sides without samples, unless they are meant to have none. */
enum status diff_judge_nothing(const struct diff_findings *o, const struct diff_settings *s);
/* The gate: did something grow that is no chance, and by as much as was asked? */
enum status diff_judge(const struct diff_findings *o, const struct diff_settings *s);

static inline const struct changes_row *diff_change_of(const struct diff_findings *o, size_t row)
{
	return &o->changes.by_label[o->table.rows[row].label];
}

/* What a cell shows: percent of its side, or the weight itself. */
static inline double diff_cell(const struct profile *p, const uint64_t *weight, unsigned int side, bool raw)
{
	if (raw)
		return (double)weight[side];
	return p->total[side] ? 100.0 * (double)weight[side] / (double)p->total[side] : 0;
}

static inline double diff_change(const struct profile *p, const uint64_t *weight, bool raw)
{
	return diff_cell(p, weight, 1, raw) - diff_cell(p, weight, 0, raw);
}

#endif
