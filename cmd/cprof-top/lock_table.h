/* The table of --by lock: a line for each lock, and under it the parts of the time of waiting for it. */
#ifndef CPROF_TOP_LOCK_TABLE_H
#define CPROF_TOP_LOCK_TABLE_H

#include "common/base/buf.h"
#include "common/blame/lock_sums.h"

/* Appends at most this number of locks, 0: all. The sums are sorted. */
void lock_table_text(const struct lock_sums *s, size_t rows, struct buf *out);
/* Appends tab-separated rows, with a line of names: one row for each part of a lock's time. */
void lock_table_tsv(const struct lock_sums *s, size_t rows, struct buf *out);

#endif
