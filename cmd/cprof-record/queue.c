#include "cmd/cprof-record/queue.h"

#include <stdlib.h>

enum { ALIGN = 8, KEEP_BYTES = 1 << 20 };

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
	q->items[q->n] = (struct item){ time, kind, (uint32_t)q->n, at, n };
	q->n++;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
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

void queue_drop(struct queue *q, size_t n)
{
	struct queue rest = { .lost = q->lost };

	if (n == q->n) {
		q->n = 0;
		buf_clear(&q->bytes);
		if (q->bytes.cap > KEEP_BYTES) /* after a burst */
			buf_release(&q->bytes);
		return;
	}
	if (n == 0)
		return;
	for (size_t i = n; i < q->n; i++)
		queue_push(&rest, q->items[i].kind, q->items[i].time, queue_bytes(q, &q->items[i]), q->items[i].n);
	queue_release(q);
	*q = rest;
}

void queue_release(struct queue *q)
{
	buf_release(&q->bytes);
	free(q->items);
	*q = (struct queue){ 0 };
}
