/*
 * What cprof-top shows of a profile: a table, who calls whom, whole stacks or the tree of calls; as text for
 * people or as rows for programs. All of them are put into a buffer, and nothing is printed here; without memory
 * the program ends.
 *
 *	struct views v = { .profile = &p, .view = &filters.view, .samples = loaded.sums.samples, .rows = 20 };
 *
 *	views_text(&v, &out);
 */
#ifndef CPROF_CMD_VIEWS_H
#define CPROF_CMD_VIEWS_H

#include "cmd/operand.h"
#include "common/export/rows.h"
#include "common/profile/peek.h"
#include "common/profile/table.h"
#include "common/stats/interval.h"

enum views_shape { SHAPE_TABLE, SHAPE_PEEK, SHAPE_STACKS, SHAPE_TREE };

struct views {
	const struct profile *profile;
	const struct view *view;
	enum views_shape shape;
	bool cum;            /* a table's order, and that of functions looked at */
	bool intervals;      /* 95 % beside the shares of a table */
	double samples;      /* that the intervals rest on, where the weights are no counts */
	size_t rows;         /* of a table, functions or stacks; 0: all */
	size_t lines;        /* not 0: a table has the rows that fit into so many, with what is in the buffer already */
	const regex_t *peek; /* SHAPE_PEEK: which functions */
	double min_share;    /* SHAPE_TREE: below so many percent of all, children are one line */
	uint32_t depth;      /* SHAPE_TREE: levels; 0: all */
};

void views_text(const struct views *v, struct buf *out);
/* In JSON an object, which says beside the rows what the captures say of themselves; else rows alone. */
void views_rows(const struct views *v, enum rows_format format, const struct loaded *l, struct buf *out);

/*
 * For both forms, text and rows: what is shown, and how much of it.
 */

/* The table that a view is made from, in its order; with SHAPE_PEEK those functions alone. */
void views_table(const struct views *v, struct table *t);
/* That table, and the calls of those functions of it that are shown. */
void views_peek(const struct views *v, struct table *t, struct peek *k);
/* How many of so many are shown. */
size_t views_shown(const struct views *v, size_t n);
struct interval views_interval(const struct views *v, uint64_t weight);
/* What a child must weigh to be a line of the tree. */
uint64_t views_least(const struct views *v);

/* The labels of a stack, the outermost frame first. */
struct views_path {
	uint32_t *labels; /* to be freed, at the end */
	size_t n, cap;
};
void views_path(const struct views *v, uint32_t node, struct views_path *path);

#endif
