#include "cmd/cprof-record/unwind/table_queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"

enum {
	USERS_MOST = 1024, /* with more, all begin again */
	CLAIM = 1000000000, /* ns: arrears of a side that it may make up before the other's turn */
};

static struct table_queue_user *find_user(struct table_queue *w, uid_t uid)
{
	for (size_t i = 0; i < w->n_users; i++)
		if (w->users[i].uid == uid)
			return &w->users[i];
	return NULL;
}

/* A user who has had no time for long does not get all of it now. */
static uint64_t used_by(struct table_queue *w, uid_t uid)
{
	const struct table_queue_user *u = find_user(w, uid);

	return u && u->used > w->least ? u->used : w->least;
}

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
static bool is_before(struct table_queue *w, const struct table_queue_file *a, const struct table_queue_file *b)
{
	uint64_t used_a = used_by(w, a->owner), used_b = used_by(w, b->owner);

	if (!a->owner != !b->owner)
		return !a->owner == (w->used_by_root <= w->used_by_others);
	if (a->owner != b->owner && used_a != used_b)
		return used_a < used_b;
	return a->size < b->size;
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
	if (f->owner)
		w->least = used_by(w, f->owner);
	return true;
}

void table_queue_charge(struct table_queue *w, uid_t owner, uint64_t ns)
{
	uint64_t *mine = owner ? &w->used_by_others : &w->used_by_root, *theirs = owner ? &w->used_by_root : &w->used_by_others;
	struct table_queue_user *u = find_user(w, owner);
	uint64_t used = used_by(w, owner) + ns;

	*mine += ns;
	/* A side that wanted nothing has no claim on all time to come. */
	if (*mine > CLAIM && *theirs < *mine - CLAIM)
		*theirs = *mine - CLAIM;
	if (owner == 0)
		return;
	if (!u && w->n_users >= USERS_MOST)
		w->n_users = 0;
	if (!u && !grow_array(&w->users, &w->cap_users, w->n_users, sizeof(*w->users)))
		return;
	if (!u)
		u = &w->users[w->n_users++];
	*u = (struct table_queue_user){ owner, used };
}

void table_queue_release(struct table_queue *w)
{
	for (size_t i = 0; i < w->n; i++)
		close(w->files[i].fd);
	free(w->files);
	free(w->users);
	*w = (struct table_queue){ 0 };
}
