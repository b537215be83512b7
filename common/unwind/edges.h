/*
 * From spans in any order, which may overlap, to rows. For this room only.
 *
 *	struct edges e = { 0 };
 *
 *	if (edges_of_spans(&e, &spans) == UNWIND_BUILT)
 *		rows_of_edges(&e, &spans, table) ...
 */
#ifndef CPROF_UNWIND_EDGES_H
#define CPROF_UNWIND_EDGES_H

#include "common/unwind/build.h"
#include "common/unwind/sections.h"
#include "common/unwind/spans.h"

/* From here on, to the next edge, this rule of the spans'. The last is a gap. */
struct edge {
	uint32_t start; /* from the base on: a table has no more than 4 GiB */
	uint32_t rule;
};

struct edges {
	struct edge *items;
	size_t n, cap;
	uint64_t base; /* a file offset, where a page begins */
};

enum {
	EDGE_GAP = 0,    /* the dictionary's first rule */
	GAP_FILLED = 15, /* bytes between functions that keep the rule before them: padding */
};

/* Replaces the edges. UNWIND_BUILT, or no memory, or too large. */
enum unwind_built edges_of_spans(struct edges *e, const struct spans *s);
void edges_release(struct edges *e);

/*
 * gaps.c: adds spans for code that no edge covers, and whose bytes tell: returns from signal handlers, where there is no
 * call frame information (Go, musl, static programs), and what each program has of gcc's start files, which have none.
 */
void gap_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s);

/* rows.c: the table's rules, rows and pages. */
enum unwind_built rows_of_edges(const struct edges *e, const struct spans *s, struct unwind_table *t);

#endif
