#include "cmd/cprof-record/queue.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 8, KEEP_BYTES = 2 << 20 };

static size_t padded(size_t n)
{
	return n + -n % ALIGN;
}

void queue_push(struct queue *q, enum item_kind kind, uint64_t time, const void *p, size_t n)
{
	static const uint8_t padding[ALIGN];
	size_t at = q->bytes.n;

	if (!grow_array(&q->items, &q->cap, q->n, sizeof(*q->items)) ||
	    !buf_reserve(&q->bytes, n + ALIGN)) {
		q->bytes.failed = false;
		q->lost++;
		return;
	}
	buf_bytes(&q->bytes, p, n);
	buf_bytes(&q->bytes, padding, -n % ALIGN);
	q->items[q->n] = (struct item){ time, kind, q->pushed++, at, n };
	q->n++;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (int32_t)(x->order - y->order); /* it wraps around */
}

size_t queue_ripe(struct queue *q, uint64_t until)
{
	size_t n = 0;

	if (q->n)
		qsort(q->items, q->n, sizeof(*q->items), by_time);
	while (n < q->n && q->items[n].time <= until)
		n++;
	return n;
}

/* What is left moves to the front; the buffer stays unless it is large. Without memory all stays where it is. */
static void close_gaps(struct queue *q)
{
	struct buf bytes = { 0 };

	if (!buf_reserve(&bytes, queue_waiting(q)))
		return;
	for (size_t i = 0; i < q->n; i++) {
		const void *p = queue_bytes(q, &q->items[i]);

		q->items[i].at = bytes.n;
		buf_bytes(&bytes, p, padded(q->items[i].n));
	}
	q->gone = 0;
	if (q->bytes.cap > KEEP_BYTES) {
		buf_release(&q->bytes);
		q->bytes = bytes;
		return;
	}
	buf_clear(&q->bytes);
	buf_bytes(&q->bytes, bytes.p, bytes.n);
	buf_release(&bytes);
}

void queue_drop(struct queue *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		q->gone += padded(q->items[i].n);
	q->n -= n;
	if (q->n == 0) {
		buf_clear(&q->bytes);
		q->gone = 0;
		if (q->bytes.cap > KEEP_BYTES) /* after a burst */
			buf_release(&q->bytes);
		return;
	}
	if (n)
		memmove(q->items, q->items + n, q->n * sizeof(*q->items));
	if (q->gone > KEEP_BYTES / 4 && q->gone > q->bytes.n / 2)
		close_gaps(q);
}

void queue_release(struct queue *q)
{
	buf_release(&q->bytes);
	free(q->items);
	*q = (struct queue){ 0 };
}
