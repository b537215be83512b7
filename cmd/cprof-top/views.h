/*
 * The views of cprof-top: a table, callers and callees, whole stacks or the call tree, as text for people or
 * as rows for programs. All of them append to a buffer and print nothing. They exit if out of memory.
 *
 *	struct views v = { .profile = &p, .view = &filters.view, .samples = loaded.sums.samples, .rows = 20 };
 *
 *	views_text(&v, &out);
 */
#ifndef CPROF_TOP_VIEWS_H
#define CPROF_TOP_VIEWS_H

#include "cmd/cprof-top/view_names.h"
#include "cmd/shared/input.h"
#include "common/export/output_rows.h"
#include "common/views/peek.h"
#include "common/views/table_view.h"
#include "common/stats/interval.h"

enum views_shape { SHAPE_TABLE, SHAPE_PEEK, SHAPE_STACKS, SHAPE_TREE, SHAPE_TREND };

enum { VIEWS_ROWS = 1024 };

/* Where the rows of a table or a tree are in the text. */
struct views_rows_shown {
	size_t line; /* number of the first row's line */
	size_t n;
	uint32_t labels[VIEWS_ROWS]; /* the nodes of a tree; 0: the line stands for several frames */
};

struct views {
	const struct profile *profile;
	const struct view *view;
	enum views_shape shape;
	bool cum;            /* sort a table, and the functions of SHAPE_PEEK, by cum */
	bool verbose;        /* the header has all lines */
	bool intervals;      /* show 95 % intervals beside the shares of a table */
	bool cpu;            /* a table of latency: side 1 has the CPU time, whose shares are shown, too */
	bool modules;        /* show the module of each function */
	const struct view_names *names; /* set inside views_text and views_rows */
	double samples;      /* number of samples for the intervals, if weights are not counts */
	size_t rows;         /* number of functions or stacks shown; 0: all */
	bool rows_asked;     /* -n says so: it is not the default */
	size_t lines;        /* 0, or the lines for a table and the text already in the buffer */
	const regex_t *peek; /* SHAPE_PEEK: selects the functions */
	const regex_t *search; /* SHAPE_TABLE: only rows whose name matches; NULL: all */
	struct slice module;   /* SHAPE_TABLE: only functions of this module; empty: all */
	struct views_rows_shown *shown; /* SHAPE_TABLE and _TREE: is filled with the first rows, if set */
	bool colour;
	double min_share;    /* SHAPE_TREE: smaller children share one line; percent of the total */
	uint64_t every;      /* SHAPE_TREND: length of the intervals, which is that of the view's moments */
	const struct origins *origins; /* SHAPE_TREND: of these moments */
	uint32_t depth;      /* SHAPE_TREE: number of levels; 0: all */
};

void views_text(const struct views *v, struct buf *out);
/*
 * Appends rows. In JSON they are part of an object, which also has the summary of the captures; other formats
 * have rows alone.
 */
void views_rows(const struct views *v, enum rows_format format, const struct loaded *l, struct buf *out);

/* Shared by text and rows. */

/*
 * Makes the sorted table of the view; with SHAPE_PEEK, only the functions that match. The caller releases it.
 */
void views_table(const struct views *v, struct table *t);
/* Makes that table, and the calls of its functions that are shown. The caller releases both. */
void views_peek(const struct views *v, struct table *t, struct peek *k);
/* Appends a weight, aligned to the right in ten columns. */
void views_weight(const struct views *v, struct buf *out, uint64_t weight);
/* Writes a weight as "1.25ms" or "12", and returns the text. */
const char *views_weight_text(const struct views *v, char *to, size_t size, uint64_t weight);
/* Returns how many of n rows are shown. */
size_t views_shown(const struct views *v, size_t n);
/* Returns the 95 % interval of a weight's share of the total, from 0 to 1. */
struct interval views_interval(const struct views *v, uint64_t weight);
/* Returns the least weight of a child that has its own line in the tree. */
uint64_t views_least(const struct views *v);

/* Writes a time as "1.25ms". */
void views_time(char *to, size_t size, uint64_t ns);

/* The labels of a stack, the outermost frame first. All zero to begin with; later calls reuse the array. */
struct views_path {
	uint32_t *labels; /* the caller frees it after the last call */
	size_t n, cap;
};
/* Stores the labels of the stack that ends at node. */
void views_path(const struct views *v, uint32_t node, struct views_path *path);

#endif
