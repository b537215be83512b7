#include "cmd/cprof-record/rings/queue.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"

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
		q->lost[kind]++;
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

/* Returns the end of the sorted run that begins at this index. */
static size_t run_end(const struct queue *q, size_t at)
{
	while (++at < q->n && by_time(&q->items[at - 1], &q->items[at]) <= 0)
		;
	return at < q->n ? at : q->n;
}

/* Merges two adjacent runs into the spare items. */
static void merge_runs(struct queue *q, size_t from, size_t middle, size_t end)
{
	const struct item *a = q->items + from, *b = q->items + middle, *b_end = q->items + end;
	struct item *to = q->spare + from;

	while (a < q->items + middle && b < b_end)
		*to++ = by_time(a, b) <= 0 ? *a++ : *b++;
	while (a < q->items + middle)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

/*
 * Each CPU's items are sorted already, and so are those left in the queue: merges these few runs pair by
 * pair.
 */
static void sort(struct queue *q)
{
	while (run_end(q, 0) < q->n) {
		struct item *merged = q->spare;

		for (size_t at = 0, middle, end; at < q->n; at = end) {
			middle = run_end(q, at);
			end = middle < q->n ? run_end(q, middle) : middle;
			merge_runs(q, at, middle, end);
		}
		q->spare = q->items;
		q->items = merged;
	}
}

/* Makes room for as many spare items as there are items. Returns false if out of memory. */
static bool has_spare(struct queue *q)
{
	if (q->spare_cap < q->cap) {
		free(q->spare);
		q->spare = malloc(q->cap * sizeof(*q->spare));
		q->spare_cap = q->spare ? q->cap : 0;
	}
	return q->spare != NULL;
}

size_t queue_ripe(struct queue *q, uint64_t until)
{
	size_t n = 0;

	if (q->n && has_spare(q))
		sort(q);
	else if (q->n)
		qsort(q->items, q->n, sizeof(*q->items), by_time);
	while (n < q->n && q->items[n].time <= until)
		n++;
	return n;
}

/* Moves the remaining bytes to the front. Frees a large buffer. Does nothing if out of memory. */
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

static void release_items(struct queue *q)
{
	free(q->items);
	free(q->spare);
	q->items = q->spare = NULL;
	q->n = q->cap = q->spare_cap = 0;
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
		if (q->cap * sizeof(*q->items) > KEEP_BYTES)
			release_items(q);
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
	release_items(q);
	*q = (struct queue){ 0 };
}
