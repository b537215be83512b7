/*
 * A workload with a known profile: two processes spend 50, 30 and 20 % of their time in hot_50,
 * hot_30 and hot_20.
 *
 *	demo [SECONDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP = 400000, PROCESSES = 2, SECONDS_MOST = 3600 };

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Burns CPU time by the clock, because CPUs run the same loop at different speeds: share parts of 100 us,
 * varied at random by up to half so that turns do not run in step with the sampling. Time beyond the turn is
 * deducted from the next one. The asm keeps the compiler from removing the loop.
 */
static inline __attribute__((always_inline)) uint32_t burn(uint32_t x, int share, int64_t *owed)
{
	int64_t start = cpu_ns(), now = start;

	*owed += share * (50000 + (int64_t)(x >> 8) % 100000);
	while (now - start < *owed) {
		for (int i = 0; i < STEP; i++) {
			x = x * 1664525 + 1013904223;
			__asm__ volatile("" : "+r"(x));
		}
		now = cpu_ns();
	}
	*owed -= now - start;
	return x;
}

static __attribute__((noinline)) uint32_t hot_50(uint32_t x)
{
	static int64_t owed;

	return burn(x, 50, &owed) + 50;
}

static __attribute__((noinline)) uint32_t hot_30(uint32_t x)
{
	static int64_t owed;

	return burn(x, 30, &owed) + 30;
}

static __attribute__((noinline)) uint32_t hot_20(uint32_t x)
{
	static int64_t owed;

	return burn(x, 20, &owed) + 20;
}

static __attribute__((noinline)) int work(time_t seconds)
{
	struct timespec start, now;
	uint32_t x = 1;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		x = hot_50(x);
		x = hot_30(x);
		x = hot_20(x);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < seconds ||
		 (now.tv_sec - start.tv_sec == seconds && now.tv_nsec < start.tv_nsec));
	return x == 0;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
	int bad = 0, status;

	if (argc > 2 || seconds < 1 || seconds > SECONDS_MOST) {
		fprintf(stderr, "usage: demo [SECONDS]\n");
		return 2;
	}
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("demo: fork");
			return 1;
		}
		if (pid == 0) {
			work(seconds);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status != 0;
	return bad;
}
