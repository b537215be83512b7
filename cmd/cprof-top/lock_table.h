/* The table of --by lock: a line for each lock, and under it the parts of the time of waiting for it. */
#ifndef CPROF_TOP_LOCK_TABLE_H
#define CPROF_TOP_LOCK_TABLE_H

#include "common/base/buf.h"
#include "common/blame/lock_sums.h"
#include "common/export/output_rows.h"
#include "common/views/brief.h"

/* Appends at most this number of locks, 0: all. The sums are sorted. */
void lock_table_text(const struct lock_sums *s, size_t rows, struct buf *out);
/* The columns of rows: one row for each part of a lock's time. */
#define LOCK_TABLE_COLUMNS "lock", "kind", "waits", "ns", "longest_ns", "part", "name", "part_ns"
void lock_table_rows(const struct lock_sums *s, size_t rows, struct rows *to);
/* Adds a section with a line for each lock: the first ones have the priority first, the others later. */
void lock_table_brief(const struct lock_sums *s, size_t rows, size_t first, size_t later, struct brief *b);
/* Return the number of locks shown, and the time waited for all of them, in nanoseconds. */
size_t lock_table_shown(const struct lock_sums *s, size_t rows);
uint64_t lock_table_ns(const struct lock_sums *s);

#endif
