/*
 * Alternates phases in which one thread runs, and two.
 *
 *	phases SECONDS
 *
 * A serial phase is 100 ms of CPU time of f_serial in one thread; a parallel one is 100 ms of f_parallel in
 * each of two threads. Prints the elapsed time of all serial phases, of all parallel ones, and of 100 ms for
 * each phase of a kind, in ns: on a machine with two free CPUs all three are the same.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PHASE INT64_C(100000000)

static pthread_barrier_t meet;
static volatile int stop;

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(void)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + PHASE;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 5000; i++)
			;
}

static __attribute__((noinline)) void f_serial(void)
{
	burn();
	__asm__ volatile("" : : "i"(1));
}

static __attribute__((noinline)) void f_parallel(void)
{
	burn();
	__asm__ volatile("" : : "i"(2));
}

static void *helper(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&meet);
		if (stop)
			return arg;
		f_parallel();
		pthread_barrier_wait(&meet);
	}
}

int main(int argc, char **argv)
{
	int64_t end = now(CLOCK_MONOTONIC) + (int64_t)(argc > 1 ? atof(argv[1]) * 1e9 : 1e9);
	int64_t at[2] = { 0, 0 }, n = 0;
	pthread_t thread;

	pthread_barrier_init(&meet, NULL, 2);
	if (pthread_create(&thread, NULL, helper, NULL))
		return 1;
	for (; now(CLOCK_MONOTONIC) < end; n++) {
		int64_t start = now(CLOCK_MONOTONIC), middle;

		f_serial();
		middle = now(CLOCK_MONOTONIC);
		pthread_barrier_wait(&meet);
		f_parallel();
		pthread_barrier_wait(&meet);
		at[0] += middle - start;
		at[1] += now(CLOCK_MONOTONIC) - middle;
	}
	stop = 1;
	pthread_barrier_wait(&meet);
	pthread_join(thread, NULL);
	printf("%lld %lld %lld\n", (long long)at[0], (long long)at[1], (long long)(n * PHASE));
	return 0;
}
