/* TAP for tests in C: one line per check, and pseudo-random numbers that are the same in each run. */
#ifndef CPROF_TESTS_CHECK_H
#define CPROF_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int checks, checks_failed;

static inline void check(bool good, const char *what)
{
	checks_failed += !good;
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++checks, what);
}

static inline int checks_done(void)
{
	printf("1..%d\n", checks);
	return fflush(stdout) != 0 || checks_failed != 0;
}

static uint64_t random_state = 1;

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t random_u64(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline uint64_t random_below(uint64_t n)
{
	return random_u64() % n;
}

#endif
