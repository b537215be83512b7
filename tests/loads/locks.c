/*
 * Threads that wait for locks of glibc, and write down who holds them.
 *
 *	locks KIND SECONDS
 *
 * KIND is mutex, recursive, errorcheck, pi, robust, write (four threads want a lock for readers and writers
 * for writing), read (one of them writes, the others read), join, or one that nobody holds: barrier, condvar,
 * semaphore. Prints a line "TID FROM TO" for each time in which a thread surely held the lock, or, for join,
 * existed while it was waited for. Times are ns of CLOCK_MONOTONIC.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, THREADS = 4 };

static const char *kind;
static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static volatile int stop;

static int is(const char *what)
{
	return strcmp(kind, what) == 0;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void rest(long ns)
{
	struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

static void note(long tid, long long from)
{
	printf("%ld %lld %lld\n", tid, from, now());
}

static __attribute__((noinline)) void take(int number)
{
	if (is("write") || (is("read") && number == 0))
		pthread_rwlock_wrlock(&rwlock);
	else if (is("read"))
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_mutex_lock(&mutex);
}

static __attribute__((noinline)) void let_go(void)
{
	if (is("write") || is("read"))
		pthread_rwlock_unlock(&rwlock);
	else
		pthread_mutex_unlock(&mutex);
}

static void *contend(void *arg)
{
	long tid = syscall(SYS_gettid);
	int number = (int)(intptr_t)arg;

	while (!stop) {
		int reads = is("read") && number;
		long long from;

		take(number);
		from = now();
		if (!reads) {
			rest(3 * MS);
			note(tid, from);
		}
		let_go();
		rest(reads ? MS / 4 : MS);
	}
	return NULL;
}

static void *meet(void *arg)
{
	int number = (int)(intptr_t)arg;

	while (!stop) {
		if (is("barrier")) {
			rest((number + 1) * MS);
			pthread_barrier_wait(&barrier);
		} else if (is("semaphore")) {
			sem_wait(&semaphore);
		} else {
			pthread_mutex_lock(&mutex);
			pthread_cond_wait(&cond, &mutex);
			rest(MS / 10);
			pthread_mutex_unlock(&mutex);
		}
	}
	return NULL;
}

static void release(void)
{
	sem_post(&semaphore);
	pthread_mutex_lock(&mutex);
	if (is("condvar"))
		pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static volatile long joined;

static void *end_soon(void *arg)
{
	(void)arg;
	joined = syscall(SYS_gettid);
	rest(5 * MS);
	return NULL;
}

static int join(double seconds)
{
	long long end = now() + (long long)(seconds * 1e9);

	while (now() < end) {
		pthread_t thread;
		long long from = now();

		if (pthread_create(&thread, NULL, end_soon, NULL))
			return 1;
		pthread_join(thread, NULL);
		note(joined, from);
	}
	return 0;
}

static int make_mutex(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	if (is("recursive"))
		pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	if (is("errorcheck"))
		pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	if (is("pi"))
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	if (is("robust"))
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	return pthread_mutex_init(&mutex, &a);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int held, seconds = argc > 2 ? atoi(argv[2]) : 0;

	if (!seconds)
		return 2;
	kind = argv[1];
	if (is("join"))
		return join(seconds);
	held = !is("barrier") && !is("condvar") && !is("semaphore");
	if (make_mutex() || pthread_barrier_init(&barrier, NULL, THREADS) || sem_init(&semaphore, 0, 0))
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, held ? contend : meet, (void *)(intptr_t)i);
	for (int i = 0; i < seconds * 500; i++) {
		rest(2 * MS);
		if (!held)
			release();
	}
	stop = 1;
	fflush(stdout);
	if (held)
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	return 0;
}
