/*
 * What came from the kernel and has not been written yet, in order of time.
 *
 * Rings are drained one after the other, so what they hold is put in order here: side-band records
 * and samples of all CPUs up to one instant. What is younger waits for the next time.
 */
#ifndef CPROF_RECORD_QUEUE_H
#define CPROF_RECORD_QUEUE_H

#include "common/base/buf.h"

enum item_kind { ITEM_SIDEBAND, ITEM_CODE, ITEM_SAMPLE }; /* in this order at the same time */

struct item {
	uint64_t time;
	enum item_kind kind;
	uint32_t order; /* as they came, for equal times */
	size_t at, n;   /* in bytes */
};

struct queue {
	struct buf bytes;
	struct item *items;
	size_t n, cap;
	struct item *spare; /* to sort them; as many as items has room for, or fewer */
	size_t spare_cap;
	size_t gone;     /* of the bytes: those of items that were dropped */
	uint32_t pushed; /* items, ever */
	uint64_t lost; /* items dropped for want of memory */
};

/* Copies the bytes. */
void queue_push(struct queue *q, enum item_kind kind, uint64_t time, const void *p, size_t n);
/* Sorts; how many items are not younger than until. They are items[0] to items[that - 1]. */
size_t queue_ripe(struct queue *q, uint64_t until);
/* Drops the first n items. */
void queue_drop(struct queue *q, size_t n);
void queue_release(struct queue *q);

/* Bytes that have not been dropped. */
static inline size_t queue_waiting(const struct queue *q)
{
	return q->bytes.n - q->gone;
}

static inline const void *queue_bytes(const struct queue *q, const struct item *i)
{
	return q->bytes.p + i->at;
}

#endif
