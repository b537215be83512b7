/* Calls the vDSO's clock_gettime below frames of all sizes, and again from a callback of libc's qsort. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t ask(int rounds)
{
	struct timespec t;
	struct timeval v;
	uint64_t sum = 0;

	for (int i = 0; i < rounds; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		gettimeofday(&v, NULL);
		sum += (uint64_t)t.tv_nsec + (uint64_t)v.tv_usec;
	}
	return sum;
}

static __attribute__((noinline)) uint64_t down(int depth, uint64_t a)
{
	uint64_t room[16];

	if (depth == 0)
		return ask(50);
	for (int i = 0; i < 16; i++)
		room[i] = a + (uint64_t)i;
	a += down(depth - 1, room[depth & 15]);
	return a ^ room[a & 15];
}

static int order(const void *a, const void *b)
{
	sink += down(10, *(const uint64_t *)a);
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 1);

	while (now() < until) {
		uint64_t items[64];

		for (int i = 0; i < 64; i++)
			items[i] = (uint64_t)rand();
		qsort(items, 64, sizeof(*items), order);
		sink += down(20, items[3]);
	}
	return 0;
}
