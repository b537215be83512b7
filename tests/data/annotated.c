/* For tests/cmd/annotate-*.t: each line below has code of its own, one function is inlined, one recurses. */
#include <time.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) unsigned long mix(unsigned long h)
{
	h ^= h >> 7;
	h *= 0x9e3779b97f4a7c15;
	return h / 3;
}

__attribute__((noinline, noclone)) void work(unsigned long n)
{
	unsigned long h = n;

	for (unsigned long i = 0; i < n; i++) {
		h = mix(h + i);
		h += h / (i | 1);
	}
	sink = h;
}

__attribute__((noinline, noclone)) unsigned long climb(unsigned long n)
{
	work(n);
	if (n > 3)
		sink += climb(n - 1);
	return sink + n;
}

/* Nothing is sampled between these two functions, so that the lines here are left out.
 *
 *
 *
 *
 *
 *
 *
 */
int main(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		work(20000);
		climb(100);
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while (b.tv_sec - a.tv_sec < 2);
	return 0;
}
