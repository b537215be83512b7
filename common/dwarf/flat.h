/*
 * A flattened compilation unit: intervals of functions and inlined calls, and line rows. Internal to
 * common/dwarf.
 */
#ifndef CPROF_DWARF_FLAT_H
#define CPROF_DWARF_FLAT_H

#include "common/base/cursor.h"
#include "common/dwarf/line_table.h"

#define NODE_NONE UINT32_MAX

/* A function or an inlined call. */
struct flat_node {
	uint32_t parent; /* the node into which it was inlined, or NODE_NONE */
	uint32_t name;   /* text id, see lines_text */
	uint32_t call_file, call_line; /* for an inlined call: text id and line; 0: unknown */
};

/* [start, start of the next interval) belongs to this node and to the nodes around it. */
struct flat_interval {
	uint64_t start;
	uint32_t node;
};

/* A range of a node, before overlaps are resolved. */
struct flat_piece {
	uint64_t start, end;
	uint32_t node;
};

struct flat {
	struct flat_node *nodes;
	size_t n_nodes, cap_nodes;
	struct flat_interval *intervals;
	size_t n_intervals, cap_intervals;
	struct line_row *rows; /* their files are text ids, or ROW_GAP */
	size_t n_rows;
	bool cut; /* a limit was reached, and some of the unit left out */
};

/*
 * Makes the intervals, after sorting pieces. If pieces overlap, the last node counts. Returns false if out of
 * memory.
 */
bool flat_settle(struct flat *f, struct flat_piece *pieces, size_t n);
/* Returns the node of this address, or NODE_NONE. */
uint32_t flat_node_at(const struct flat *f, uint64_t address);
/* Returns the row of this address, or NULL. */
const struct line_row *flat_row_at(const struct flat *f, uint64_t address);
size_t flat_bytes(const struct flat *f);
void flat_free(struct flat *f);

#endif
