/* Words at futexes and the locks that they are: made ones, and those of this glibc while a thread waits. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/encode/lock_owner.h"
#include "tests/lib/check.h"

enum { OP_WAIT = 0, OP_LOCK_PI = 6, OP_BITSET = 9, OP_LOCK_PI2 = 13, PRIVATE = 0x80, REALTIME = 0x100 };
enum { SELF = 10, FRIEND = 11, STRANGER = 12, NOBODY = 13 }; /* a thread of another process; no thread */

static bool is_made_thread(const void *context, uint32_t tid, bool shared)
{
	(void)context;
	return tid == SELF || tid == FRIEND || (tid == STRANGER && shared);
}

static const struct row {
	const char *what;
	struct futex futex;
	enum lock_kind kind;
	uint64_t address;
	uint32_t holder;
} rows[] = {
	{ "no futex", { 0, OP_WAIT, { 2, 0, FRIEND, 1, 0 } }, LOCK_FUTEX, 0, 0 },
	{ "a mutex", { 96, OP_WAIT | PRIVATE, { 2, 0, FRIEND, 1, 0 } }, LOCK_MUTEX, 96, FRIEND },
	{ "a recursive one", { 96, OP_WAIT | PRIVATE, { 2, 3, FRIEND, 2, 1 } }, LOCK_MUTEX, 96, FRIEND },
	{ "without elision", { 96, OP_WAIT | PRIVATE, { 2, 0, FRIEND, 1, 0x200 } }, LOCK_MUTEX, 96, FRIEND },
	{ "with a limit",
	  { 96, OP_BITSET | PRIVATE | REALTIME, { 2, 0, FRIEND, 1, 0 } }, LOCK_MUTEX, 96, FRIEND },
	{ "of another process", { 96, OP_WAIT, { 2, 0, STRANGER, 1, 0x80 } }, LOCK_MUTEX, 96, STRANGER },
	{ "a private one is not", { 96, OP_WAIT | PRIVATE, { 2, 0, STRANGER, 1, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "nor of a thread that is gone",
	  { 96, OP_WAIT | PRIVATE, { 2, 0, NOBODY, 1, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "nor of the waiting thread", { 96, OP_WAIT | PRIVATE, { 2, 0, SELF, 1, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "nor held without waiters", { 96, OP_WAIT | PRIVATE, { 1, 0, FRIEND, 1, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "too many users", { 96, OP_WAIT | PRIVATE, { 2, 0, FRIEND, 1 << 16, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "an unknown kind", { 96, OP_WAIT | PRIVATE, { 2, 0, FRIEND, 1, 0x400 } }, LOCK_FUTEX, 96, 0 },
	{ "a lock of one word", { 96, OP_WAIT | PRIVATE, { 2, 0, 0, 0, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "a wake-up", { 96, 1 | PRIVATE, { 2, 0, FRIEND, 1, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "a robust mutex",
	  { 96, OP_WAIT, { 0x80000000 | FRIEND, 0, FRIEND, 1, 0x90 } }, LOCK_ROBUST, 96, FRIEND },
	{ "its word is of another thread",
	  { 96, OP_WAIT, { 0x80000000 | STRANGER, 0, FRIEND, 1, 0x10 } }, LOCK_FUTEX, 96, 0 },
	{ "with priority inheritance",
	  { 96, OP_LOCK_PI | PRIVATE, { 0x80000000 | FRIEND, 0, 0, 0, 0 } }, LOCK_PI, 96, FRIEND },
	{ "by the newer call", { 96, OP_LOCK_PI2 | PRIVATE, { FRIEND, 0, 0, 0, 0 } }, LOCK_PI, 96, FRIEND },
	{ "its holder has ended",
	  { 96, OP_LOCK_PI | PRIVATE, { 0x40000000, 0, 0, 0, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "a writer waits for a writer",
	  { 96, OP_BITSET | PRIVATE, { 3, 0, 0, FRIEND, 0 } }, LOCK_RWLOCK, 84, FRIEND },
	{ "a reader waits for a writer",
	  { 96, OP_BITSET | PRIVATE, { 3, 1, 0, 0, FRIEND } }, LOCK_RWLOCK, 88, FRIEND },
	{ "a writer waits for readers", { 96, OP_BITSET | PRIVATE, { 3, 1, 0, 0, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "a condition variable with a mutex after it",
	  { 96, OP_BITSET | PRIVATE, { 3, 0, 1, FRIEND, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "the end of a thread",
	  { 96, OP_BITSET | REALTIME, { FRIEND, 0, 0, 0, 0 } }, LOCK_JOIN, 96, FRIEND },
	{ "a private word with its number",
	  { 96, OP_BITSET | PRIVATE, { FRIEND, 0, 0, 0, 0 } }, LOCK_FUTEX, 96, 0 },
	{ "a thread of another process", { 96, OP_BITSET, { STRANGER, 0, 0, 0, 0 } }, LOCK_FUTEX, 96, 0 },
};

static void check_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct lock_found f = lock_owner_find(&r->futex, SELF, is_made_thread, NULL);

		check(f.kind == r->kind && f.address == r->address && f.tid == r->holder, r->what);
	}
}

/* Words of which some are threads by chance: whatever is found must fit one of the shapes. */
static void check_chance(void)
{
	static const uint32_t words[] = { 0, 1, 2, 3, 4, 0x80000000 | FRIEND,
					  SELF, FRIEND, STRANGER, NOBODY };
	static const unsigned int ops[] = { OP_WAIT, OP_LOCK_PI, OP_BITSET, OP_LOCK_PI2, 1, 11 };
	uint64_t wrong = 0;

	for (int i = 0; i < 200000; i++) {
		struct futex f = { 4096, ops[random_below(6)] | (random_below(2) ? PRIVATE : 0), { 0 } };
		struct lock_found found;
		bool named = false;

		for (int k = 0; k < 5; k++)
			f.words[k] = words[random_below(10)];
		found = lock_owner_find(&f, SELF, is_made_thread, NULL);
		for (int k = 0; k < 5; k++)
			named = named || (f.words[k] & 0x3fffffff) == found.tid;
		wrong += found.tid ? !named || found.tid == SELF || found.kind == LOCK_FUTEX ||
					     (found.tid == STRANGER && f.op & PRIVATE)
				   : found.kind != LOCK_FUTEX || found.address != 4096;
	}
	check_is(wrong, 0, "words by chance: a holder is in a word, and may hold the lock");
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static struct shared {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	sem_t semaphore;
	pthread_t sleeper;
	volatile uint32_t sleeper_tid, waiter_tid;
	volatile bool end;
} s;

/* Waits of one thread for something that the main thread holds. */
static void lock_mutex(void)
{
	pthread_mutex_lock(&s.mutex);
	pthread_mutex_unlock(&s.mutex);
}

static void lock_with_limit(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 1000;
	pthread_mutex_timedlock(&s.mutex, &t);
	pthread_mutex_unlock(&s.mutex);
}

static void lock_read(void)
{
	pthread_rwlock_rdlock(&s.rwlock);
	pthread_rwlock_unlock(&s.rwlock);
}

static void lock_write(void)
{
	pthread_rwlock_wrlock(&s.rwlock);
	pthread_rwlock_unlock(&s.rwlock);
}

static void wait_cond(void)
{
	pthread_mutex_lock(&s.mutex);
	while (!s.end)
		pthread_cond_wait(&s.cond, &s.mutex);
	pthread_mutex_unlock(&s.mutex);
}

static void wait_semaphore(void)
{
	sem_wait(&s.semaphore);
}

static void wait_barrier(void)
{
	pthread_barrier_wait(&s.barrier);
}

static void join_sleeper(void)
{
	pthread_join(s.sleeper, NULL);
}

static void unlock_mutex(void)
{
	pthread_mutex_unlock(&s.mutex);
}

static void take_mutex(void)
{
	pthread_mutex_lock(&s.mutex);
}

static void take_rwlock(void)
{
	pthread_rwlock_wrlock(&s.rwlock);
}

static void unlock_rwlock(void)
{
	pthread_rwlock_unlock(&s.rwlock);
}

static void post_cond(void)
{
	pthread_mutex_lock(&s.mutex);
	s.end = true;
	pthread_cond_broadcast(&s.cond);
	pthread_mutex_unlock(&s.mutex);
}

static void post_semaphore(void)
{
	sem_post(&s.semaphore);
}

static void *sleeping(void *arg)
{
	(void)arg;
	s.sleeper_tid = own_tid();
	while (!s.end)
		usleep(1000);
	return NULL;
}

static void begin_sleeper(void)
{
	pthread_create(&s.sleeper, NULL, sleeping, NULL);
	while (!s.sleeper_tid)
		usleep(1000);
}

static void end_sleeper(void)
{
	s.end = true;
}

static void begin_nothing(void)
{
}

static const struct live {
	const char *what;
	int type, protocol, robust;
	void (*begin)(void), (*wait)(void), (*end)(void);
	enum lock_kind kind;
} lives[] = {
	{ "mutex", PTHREAD_MUTEX_NORMAL, 0, 0, take_mutex, lock_mutex, unlock_mutex, LOCK_MUTEX },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, take_mutex, lock_mutex, unlock_mutex, LOCK_MUTEX },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, take_mutex, lock_mutex, unlock_mutex, LOCK_MUTEX },
	{ "with a limit", PTHREAD_MUTEX_NORMAL, 0, 0, take_mutex, lock_with_limit, unlock_mutex, LOCK_MUTEX },
	{ "PI", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, 0,
	  take_mutex, lock_mutex, unlock_mutex, LOCK_PI },
	{ "robust", PTHREAD_MUTEX_NORMAL, 0, 1, take_mutex, lock_mutex, unlock_mutex, LOCK_ROBUST },
	{ "rwlock to read", 0, 0, 0, take_rwlock, lock_read, unlock_rwlock, LOCK_RWLOCK },
	{ "rwlock to write", 0, 0, 0, take_rwlock, lock_write, unlock_rwlock, LOCK_RWLOCK },
	{ "condition variable", 0, 0, 0, begin_nothing, wait_cond, post_cond, LOCK_FUTEX },
	{ "semaphore", 0, 0, 0, begin_nothing, wait_semaphore, post_semaphore, LOCK_FUTEX },
	{ "barrier", 0, 0, 0, begin_nothing, wait_barrier, wait_barrier, LOCK_FUTEX },
	{ "join", 0, 0, 0, begin_sleeper, join_sleeper, end_sleeper, LOCK_JOIN },
};

static void prepare(const struct live *l)
{
	pthread_mutexattr_t a;

	memset(&s, 0, sizeof(s));
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, l->type);
	pthread_mutexattr_setprotocol(&a, l->protocol);
	pthread_mutexattr_setrobust(&a, l->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutex_init(&s.mutex, &a);
	pthread_rwlock_init(&s.rwlock, NULL);
	pthread_cond_init(&s.cond, NULL);
	pthread_barrier_init(&s.barrier, NULL, 2);
	sem_init(&s.semaphore, 0, 0);
}

static void *waiting(void *arg)
{
	const struct live *l = arg;

	s.waiter_tid = own_tid();
	l->wait();
	return NULL;
}

/* Reads the futex that the thread waits for, as the kernel's program does. False: it does not wait. */
static bool read_futex(uint32_t tid, struct futex *f)
{
	char path[64], line[256] = "";
	unsigned long nr, address, op;
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32 "/syscall", tid);
	file = fopen(path, "r");
	good = file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "%lu 0x%lx 0x%lx", &nr, &address, &op) == 3 && nr == SYS_futex;
	if (file)
		fclose(file);
	if (!good)
		return false;
	f->address = address;
	f->op = (unsigned int)op;
	memcpy(f->words, (const void *)address, sizeof(f->words));
	return true;
}

static bool is_live_thread(const void *context, uint32_t tid, bool shared)
{
	(void)context;
	(void)shared;
	return tid == own_tid() || tid == s.waiter_tid || tid == s.sleeper_tid;
}

static bool is_right(const struct live *l, const struct futex *f)
{
	struct lock_found found = lock_owner_find(f, s.waiter_tid, is_live_thread, NULL);
	uint32_t holder = l->kind == LOCK_JOIN ? s.sleeper_tid : l->kind == LOCK_FUTEX ? 0 : own_tid();
	uint64_t address = l->kind == LOCK_RWLOCK		       ? (uintptr_t)&s.rwlock
			   : l->kind == LOCK_JOIN || l->kind == LOCK_FUTEX ? f->address
									   : (uintptr_t)&s.mutex;

	return found.kind == l->kind && found.tid == holder && found.address == address;
}

/* The thread may be seen before its word says that it waits, or in another futex of the library. */
static void check_live(const struct live *l)
{
	struct futex f = { 0 };
	pthread_t waiter;
	bool right = false;

	prepare(l);
	l->begin();
	pthread_create(&waiter, NULL, waiting, (void *)l);
	for (int i = 0; i < 5000 && !right; i++) {
		usleep(1000);
		right = s.waiter_tid && read_futex(s.waiter_tid, &f) && is_right(l, &f);
	}
	check(right, l->what);
	l->end();
	pthread_join(waiter, NULL);
}

int main(void)
{
	struct futex f;

	check_rows();
	check_chance();
	if (access("/proc/self/syscall", R_OK) || read_futex(own_tid(), &f))
		return checks_done();
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		check_live(&lives[i]);
	return checks_done();
}
