/*
 * One compilation unit, flattened; for this room only.
 */
#ifndef CPROF_DWARF_FLAT_H
#define CPROF_DWARF_FLAT_H

#include "common/base/cursor.h"
#include "common/dwarf/table.h"

#define NODE_NONE UINT32_MAX

/* A function or an inlined call. */
struct flat_node {
	uint32_t parent; /* what it was inlined into, or NODE_NONE */
	uint32_t name;
	uint32_t call_file, call_line; /* of an inlined call; texts are numbers */
};

/* [start, the next one's start) belongs to this node and those around it. */
struct flat_interval {
	uint64_t start;
	uint32_t node;
};

/* What a node covers, before it is decided who has it. */
struct flat_piece {
	uint64_t start, end;
	uint32_t node;
};

struct flat {
	struct flat_node *nodes;
	size_t n_nodes, cap_nodes;
	struct flat_interval *intervals;
	size_t n_intervals, cap_intervals;
	struct line_row *rows; /* their files are numbers of texts, or ROW_GAP */
	size_t n_rows;
};

/* Makes the intervals: where pieces overlap, the last node has it. Sorts the pieces. False without memory. */
bool flat_settle(struct flat *f, struct flat_piece *pieces, size_t n);
/* The node that has this address, or NODE_NONE. */
uint32_t flat_node_at(const struct flat *f, uint64_t address);
/* The row of this address, or NULL. */
const struct line_row *flat_row_at(const struct flat *f, uint64_t address);
size_t flat_bytes(const struct flat *f);
void flat_free(struct flat *f);

#endif
