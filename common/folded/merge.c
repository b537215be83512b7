#include "common/folded/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/array.h"

bool merge_add(struct merge *m, struct merge_source *s)
{
	if (!grow_array(&m->heap, &m->cap, m->n, sizeof(*m->heap)))
		return false;
	m->heap[m->n++] = s;
	return true;
}

void merge_release(struct merge *m)
{
	free(m->heap);
	buf_release(&m->stack);
	*m = (struct merge){ 0 };
}

static bool comes_before(const struct merge *m, size_t a, size_t b)
{
	return slice_compare(m->heap[a]->stack, m->heap[b]->stack) < 0;
}

static void sift_down(struct merge *m, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct merge_source *s = m->heap[at];

		if (child < m->n && comes_before(m, child, least))
			least = child;
		if (child + 1 < m->n && comes_before(m, child + 1, least))
			least = child + 1;
		if (least == at)
			return;
		m->heap[at] = m->heap[least];
		m->heap[least] = s;
		at = least;
	}
}

/* Takes the first stack of every source; returns false if one failed. */
static bool start_sources(struct merge *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		int got = m->heap[i]->next(m->heap[i]);

		if (got < 0)
			return false;
		if (got)
			m->heap[n++] = m->heap[i];
	}
	m->n = n;
	for (size_t i = n / 2; i > 0; i--)
		sift_down(m, i - 1);
	m->begun = true;
	return true;
}

/* Advances the source with the smallest stack. */
static bool advance_source(struct merge *m)
{
	int got = m->heap[0]->next(m->heap[0]);

	if (got < 0)
		return false;
	if (!got)
		m->heap[0] = m->heap[--m->n];
	if (m->n)
		sift_down(m, 0);
	return true;
}

int merge_next(struct merge *m, struct slice *stack, uint64_t *count)
{
	if (!m->begun && !start_sources(m))
		return -1;
	if (m->n == 0)
		return 0;
	buf_clear(&m->stack);
	buf_bytes(&m->stack, m->heap[0]->stack.p, m->heap[0]->stack.n);
	if (m->stack.failed) {
		errno = ENOMEM;
		return -1;
	}
	*stack = buf_view(&m->stack);
	*count = 0;
	do {
		*count += m->heap[0]->count;
		if (!advance_source(m))
			return -1;
	} while (m->n && slice_equal(m->heap[0]->stack, *stack));
	return 1;
}
