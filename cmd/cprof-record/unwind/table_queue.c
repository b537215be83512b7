#include "cmd/cprof-record/unwind/table_queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"

bool table_queue_add(struct table_queue *w, const struct table_queue_file *f)
{
	size_t same = 0;

	for (size_t i = 0; i < w->n; i++)
		same += w->files[i].owner == f->owner;
	if (w->n >= TABLE_QUEUE_MOST || (f->owner && same >= TABLE_QUEUE_OF_ONE) || !grow_array(&w->files, &w->cap, w->n, sizeof(*w->files)))
		return false;
	w->files[w->n++] = *f;
	return true;
}

static bool is_busy(uid_t owner, const int64_t *busy, size_t n)
{
	for (size_t i = 0; owner && i < n; i++)
		if (busy[i] == (int64_t)owner)
			return true;
	return false;
}

/* Is a's turn before b's? */
static bool is_before(const struct table_queue *w, const struct table_queue_file *a,
		      const struct table_queue_file *b)
{
	int turn = user_turns_compare(&w->turns, a->owner, b->owner);

	return turn ? turn < 0 : a->size < b->size;
}

static void remove_file(struct table_queue *w, size_t at)
{
	w->files[at] = w->files[--w->n];
}

bool table_queue_next(struct table_queue *w, const int64_t *busy, size_t n_busy, struct table_queue_file *f)
{
	size_t best = w->n;

	for (size_t i = 0; i < w->n; i++)
		if (!is_busy(w->files[i].owner, busy, n_busy) && (best == w->n || is_before(w, &w->files[i], &w->files[best])))
			best = i;
	if (best == w->n)
		return false;
	*f = w->files[best];
	remove_file(w, best);
	user_turns_begin(&w->turns, f->owner);
	return true;
}

void table_queue_charge(struct table_queue *w, uid_t owner, uint64_t ns)
{
	user_turns_charge(&w->turns, owner, ns);
}

void table_queue_release(struct table_queue *w)
{
	for (size_t i = 0; i < w->n; i++)
		close(w->files[i].fd);
	free(w->files);
	user_turns_release(&w->turns);
	*w = (struct table_queue){ 0 };
}
