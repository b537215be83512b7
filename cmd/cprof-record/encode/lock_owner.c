#include "cmd/cprof-record/encode/lock_owner.h"

/* include/uapi/linux/futex.h */
enum {
	OP_WAIT = 0,
	OP_LOCK_PI = 6,
	OP_WAIT_BITSET = 9,
	OP_LOCK_PI2 = 13,
	OP_MASK = 0x7f,
	OP_PRIVATE = 0x80,
	TID_MASK = 0x3fffffff,
};

/* glibc: the fields of a mutex by word, and bits of its kind. */
enum {
	MUTEX_LOCK,
	MUTEX_OWNER = 2,
	MUTEX_USERS,
	MUTEX_KIND,
	MUTEX_CONTENDED = 2, /* the lock of a mutex with waiters that is neither robust nor PI */
	KIND_ROBUST = 0x10,
	KIND_BITS = 0x3ff,
	USERS_MOST = 1 << 16,
};

/* glibc: bytes of a rwlock before its futexes, and their value if there are waiters. */
enum { WRITE_PHASE = 8, WRITERS = 12, RWLOCK_WAITED = 3 };

struct question {
	const struct futex *f;
	uint32_t tid;
	unsigned int op;
	bool shared;
	lock_is_thread *is_thread;
	const void *context;
};

static bool may_hold(const struct question *q, uint32_t tid, bool shared)
{
	return tid && tid != q->tid && q->is_thread(q->context, tid, shared);
}

/* The kernel itself finds the holder in the word, whichever library made the lock. */
static bool find_pi(const struct question *q, struct lock_found *out)
{
	uint32_t tid = q->f->words[MUTEX_LOCK] & TID_MASK;

	if ((q->op != OP_LOCK_PI && q->op != OP_LOCK_PI2) || !may_hold(q, tid, q->shared))
		return false;
	*out = (struct lock_found){ LOCK_PI, q->f->address, tid };
	return true;
}

static bool find_mutex(const struct question *q, struct lock_found *out)
{
	const unsigned int *w = q->f->words;
	uint32_t tid = w[MUTEX_OWNER];
	bool robust = w[MUTEX_KIND] & KIND_ROBUST && (w[MUTEX_LOCK] & TID_MASK) == tid;

	if (q->op != OP_WAIT && q->op != OP_WAIT_BITSET)
		return false;
	if ((w[MUTEX_LOCK] != MUTEX_CONTENDED && !robust) || w[MUTEX_USERS] >= USERS_MOST ||
	    w[MUTEX_KIND] & ~(unsigned int)KIND_BITS || !may_hold(q, tid, q->shared))
		return false;
	*out = (struct lock_found){ robust ? LOCK_ROBUST : LOCK_MUTEX, q->f->address, tid };
	return true;
}

/*
 * A reader waits for the end of the write phase, a writer for other writers. The words between are not used,
 * which tells both from a condition variable with a mutex after it.
 */
static bool find_rwlock(const struct question *q, struct lock_found *out)
{
	const unsigned int *w = q->f->words;

	if (q->op != OP_WAIT_BITSET || w[0] != RWLOCK_WAITED || w[2])
		return false;
	if (!w[1] && w[4] <= 1 && may_hold(q, w[3], q->shared))
		*out = (struct lock_found){ LOCK_RWLOCK, q->f->address - WRITERS, w[3] };
	else if (w[1] <= RWLOCK_WAITED && !w[3] && may_hold(q, w[4], q->shared))
		*out = (struct lock_found){ LOCK_RWLOCK, q->f->address - WRITE_PHASE, w[4] };
	else
		return false;
	return true;
}

/* The kernel clears this word, and wakes at it, when the thread exits: it is never private. */
static bool find_join(const struct question *q, struct lock_found *out)
{
	uint32_t tid = q->f->words[0];

	if ((q->op != OP_WAIT && q->op != OP_WAIT_BITSET) || !q->shared || !may_hold(q, tid, false))
		return false;
	*out = (struct lock_found){ LOCK_JOIN, q->f->address, tid };
	return true;
}

struct lock_found lock_owner_find(const struct futex *f, uint32_t tid, lock_is_thread *is_thread,
				  const void *context)
{
	const struct question q = { f, tid, f->op & OP_MASK, !(f->op & OP_PRIVATE), is_thread, context };
	struct lock_found found = { LOCK_FUTEX, f->address, 0 };

	if (f->address && !find_pi(&q, &found) && !find_mutex(&q, &found) && !find_rwlock(&q, &found))
		find_join(&q, &found);
	return found;
}
