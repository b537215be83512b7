/* 60 frames of recursion and work in the last one, with saved registers that differ from frame to frame. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 60 };

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t work(uint64_t seed)
{
	for (int i = 0; i < 2000; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

static uint64_t odd(int depth, uint64_t a, uint64_t b);

/* Many values live across the call: all callee-saved registers are pushed, and some spill. */
static __attribute__((noinline)) uint64_t even(int depth, uint64_t a, uint64_t b)
{
	uint64_t c = a ^ b, d = a + b, e = a - b, f = a * b, g = a | b, got;

	if (depth <= 0)
		return work(a + b);
	got = odd(depth - 1, d, e);
	return got + (a & c) + (b ^ d) + e * 3 + (f >> 3) + g;
}

/* Few values: one register at most. */
static __attribute__((noinline)) uint64_t odd(int depth, uint64_t a, uint64_t b)
{
	if (depth <= 0)
		return work(a - b);
	return even(depth - 1, b, a + 1) + a;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 1);

	while (now() < until)
		sink += even(DEPTH, sink, 3);
	return 0;
}
