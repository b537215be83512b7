/* TAP for tests in C: one line per check, and pseudo-random numbers that are the same in each run. */
#ifndef CPROF_TESTS_CHECK_H
#define CPROF_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int checks, checks_failed;

#define CHECK_TEXT(x) #x
#define CHECK_LINE(line) CHECK_TEXT(line)
#define CHECK_AT __FILE__ ":" CHECK_LINE(__LINE__)

/* One line a check. A failed one adds its place and condition on standard error, which prove shows. */
#define check(good, what) check_at(good, what, CHECK_AT, #good)
/* Two numbers, or two texts, are equal. If not, both are shown. */
#define check_is(got, want, what) \
	check_numbers((unsigned long long)(got), (unsigned long long)(want), what, CHECK_AT, #got)
#define check_text(got, want, what) check_texts(got, want, what, CHECK_AT, #got)

static inline bool check_at(bool good, const char *what, const char *at, const char *condition)
{
	checks_failed += !good;
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++checks, what);
	if (!good) {
		fflush(stdout);
		fprintf(stderr, "# %s: not ok %d - %s\n# failed: %s\n", at, checks, what, condition);
	}
	return good;
}

static inline void check_numbers(unsigned long long got, unsigned long long want, const char *what,
				 const char *at, const char *condition)
{
	if (!check_at(got == want, what, at, condition))
		fprintf(stderr, "# got:  %lld (0x%llx)\n# want: %lld (0x%llx)\n", (long long)got, got,
			(long long)want, want);
}

static inline void check_texts(const char *got, const char *want, const char *what, const char *at,
			       const char *condition)
{
	if (!check_at(got && strcmp(got, want) == 0, what, at, condition))
		fprintf(stderr, "# got:  %s\n# want: %s\n", got ? got : "nothing", want);
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
