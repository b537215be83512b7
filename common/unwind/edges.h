/*
 * Converts spans, in any order and possibly overlapping, to rows. Only for this directory.
 *
 *	struct edges e = { 0 };
 *
 *	if (edges_of_spans(&e, &spans) == UNWIND_BUILT)
 *		rows_of_edges(&e, &spans, table) ...
 */
#ifndef CPROF_UNWIND_EDGES_H
#define CPROF_UNWIND_EDGES_H

#include "common/unwind/build.h"
#include "common/elf/unwind_sections.h"
#include "common/unwind/spans.h"

/* This rule of the spans' holds from here to the next edge. The last edge is a gap. */
struct edge {
	uint32_t start; /* offset from the base: a table has no more than 4 GiB */
	uint32_t rule;
};

struct edges {
	struct edge *items;
	size_t n, cap;
	uint64_t base; /* a file offset, the start of a page */
};

enum {
	EDGE_GAP = 0,    /* the dictionary's first rule */
	GAP_FILLED = 15, /* bytes between functions that keep the rule before them: padding */
};

/* Replaces the edges. Returns UNWIND_BUILT, UNWIND_NO_MEMORY or UNWIND_TOO_LARGE. */
enum unwind_built edges_of_spans(struct edges *e, const struct spans *s);
void edges_release(struct edges *e);

/*
 * In gaps.c: adds spans for code that no edge covers and that its bytes identify: returns from signal
 * handlers without call frame information (Go, musl, static programs), and the parts of gcc's start files,
 * which have none.
 */
void gap_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s);
/* Calls visit for each range of code that no edge covers, in the order of the sections. Returns false if out of memory. */
typedef void gap_visit(void *arg, uint64_t start, uint64_t end);
bool gap_each(const struct elf_file *f, const struct edges *e, gap_visit *visit, void *arg);
/* Returns true if no edge covers any of this range. */
bool gap_contains(const struct edges *e, uint64_t start, uint64_t end);

/*
 * In gaps_code.c: adds spans by following the code in gaps (code.h): first the functions of the symbol tables that are
 * wholly in gaps, then the rest. Its rules are UNWIND_FROM_CODE.
 */
void gap_code_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s);

/* In table_rows.c: builds the table's rules, rows and pages. */
enum unwind_built rows_of_edges(const struct edges *e, const struct spans *s, struct unwind_table *t);

#endif
