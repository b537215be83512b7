/*
 * Records from the kernel that are not written yet, in order of time.
 *
 * Rings are drained one after the other, so this queue sorts their contents: side-band records and samples of
 * all CPUs, up to a given time. Newer items wait for the next drain. Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef CPROF_RECORD_RINGS_QUEUE_H
#define CPROF_RECORD_RINGS_QUEUE_H

#include "common/base/buf.h"

/* Items of equal time are in this order. */
enum item_kind { ITEM_SIDEBAND, ITEM_CODE, ITEM_SAMPLE, ITEM_KINDS };

struct item {
	uint64_t time;
	enum item_kind kind;
	uint32_t order; /* arrival order, for items of equal time and kind */
	size_t at, n;   /* offset and length in bytes */
};

struct queue {
	struct buf bytes;
	struct item *items;
	size_t n, cap;
	struct item *spare; /* room for sorting: cap items, or fewer */
	size_t spare_cap;
	size_t gone;     /* bytes of dropped items */
	uint32_t pushed; /* number of items ever pushed */
	uint64_t lost[ITEM_KINDS]; /* items lost because memory ran out, or because a ring was damaged */
};

/* Copies the n bytes at p. Counts the item in lost if out of memory. */
void queue_push(struct queue *q, enum item_kind kind, uint64_t time, const void *p, size_t n);
/* Sorts, and returns how many items are not newer than until. They are the first ones in items. */
size_t queue_ripe(struct queue *q, uint64_t until);
/* Drops the first n items. */
void queue_drop(struct queue *q, size_t n);
void queue_release(struct queue *q);

/* Returns the number of bytes that are not dropped. */
static inline size_t queue_waiting(const struct queue *q)
{
	return q->bytes.n - q->gone;
}

/* The result is valid until the next call that changes the queue. */
static inline const void *queue_bytes(const struct queue *q, const struct item *i)
{
	return q->bytes.p + i->at;
}

#endif
