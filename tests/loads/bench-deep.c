/*
 * A stack of DEPTH frames with work in the innermost one: bench-deep DEPTH SECONDS. Built with frame
 * pointers, as all our programs are: a walk by frame pointers and one by tables find the same frames.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t work(double until)
{
	uint64_t x = 1;

	while (now() < until)
		for (int i = 0; i < 1000000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* The addition after the call keeps it from becoming a tail call. */
static __attribute__((noinline)) uint64_t down(long depth, double until)
{
	return (depth > 0 ? down(depth - 1, until) : work(until)) + (uint64_t)depth;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: bench-deep DEPTH SECONDS\n");
		return 2;
	}
	sink += down(atol(argv[1]), now() + strtod(argv[2], NULL));
	return 0;
}
