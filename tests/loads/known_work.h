/* Work of a known length, for programs in which f_fast takes a given part of its time. */
#ifndef CPROF_TESTS_LOADS_KNOWN_WORK_H
#define CPROF_TESTS_LOADS_KNOWN_WORK_H

#include <stdint.h>
#include <time.h>

enum { MS = 1000000 };

static int64_t percent; /* that f_fast takes */

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(int64_t ns)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static __attribute__((noinline)) void f_fast(int64_t ns)
{
	burn(ns * percent / 100);
	__asm__ volatile("" : : "i"(1));
}

static __attribute__((noinline)) void g_other(int64_t ns)
{
	burn(ns);
	__asm__ volatile("" : : "i"(2));
}

#endif
