/*
 * Preloaded into the recorder: a wall clock that is stepped an hour forward and two hours back, again and
 * again. tests/cmd/record-always.t builds it as a library; run as a program, it prints the current step.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

enum { STEP = 3600, EVERY = 7 }; /* seconds */

static long shift(void)
{
	static const long steps[] = { 0, STEP, -STEP, 2 * STEP, -2 * STEP };
	struct timespec t;
	int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");

	real(CLOCK_MONOTONIC, &t);
	return steps[t.tv_sec / EVERY % 5];
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int got = real(clock, t);

	if (clock == CLOCK_REALTIME)
		t->tv_sec += shift();
	return got;
}

time_t time(time_t *to)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}

int main(void)
{
	printf("%ld\n", shift());
	return 0;
}
