/*
 * Work with a known profile, for the tests of the recorder.
 *
 *	burn brief MS		one process that spends MS milliseconds of CPU time in brief_work
 *	burn threads SECONDS	prints its process id and those of two threads, one in first_thread, one in
 *				second_thread
 *	burn deep N		N functions deep, for a fifth of a second
 *	burn step SECONDS NS	half of each period of NS in first_half, half in second_half, aligned to the
 *				clock; after SECONDS of CPU time prints how many ns of it were in each
 *	burn family SECONDS	a parent in parent_work, with a child of the same image in child_work
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static pid_t tids[2];
static pthread_barrier_t ready;

static inline __attribute__((always_inline)) uint32_t spin(clockid_t clock, double until)
{
	struct timespec t;
	uint32_t x = 1;

	do {
		for (int i = 0; i < 20000; i++) {
			x = x * 1664525 + 1013904223;
			__asm__ volatile("" : "+r"(x));
		}
		clock_gettime(clock, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < until);
	return x;
}

static double in_seconds(double s)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9 + s;
}

/* + n: no tail call, so that each caller stays on the stack, and no two functions with the same code. */
static __attribute__((noinline)) uint32_t brief_work(void)
{
	return spin(CLOCK_PROCESS_CPUTIME_ID, seconds / 1000) + 1;
}

static __attribute__((noinline)) uint32_t parent_work(void)
{
	return spin(CLOCK_MONOTONIC, in_seconds(seconds)) + 2;
}

static __attribute__((noinline)) uint32_t child_work(void)
{
	return spin(CLOCK_MONOTONIC, in_seconds(seconds)) + 3;
}

static __attribute__((noinline)) void *first_thread(void *arg)
{
	tids[0] = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&ready);
	*(uint32_t *)arg = spin(CLOCK_MONOTONIC, in_seconds(seconds));
	return NULL;
}

static __attribute__((noinline)) void *second_thread(void *arg)
{
	tids[1] = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&ready);
	*(uint32_t *)arg = spin(CLOCK_MONOTONIC, in_seconds(seconds));
	return NULL;
}

static int threads(void)
{
	uint32_t x[2];
	pthread_t t[2];

	pthread_barrier_init(&ready, NULL, 3);
	if (pthread_create(&t[0], NULL, first_thread, &x[0]) || pthread_create(&t[1], NULL, second_thread, &x[1]))
		return 1;
	pthread_barrier_wait(&ready);
	printf("%d %d %d\n", (int)getpid(), (int)tids[0], (int)tids[1]);
	fflush(stdout);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}

static __attribute__((noinline)) uint32_t deep_work(int n)
{
	uint32_t x = n > 0 ? deep_work(n - 1) : spin(CLOCK_MONOTONIC, in_seconds(0.2));

	__asm__ volatile("" : "+r"(x)); /* or the recursion becomes a loop */
	return x;
}

static int family(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return 1;
	if (child == 0)
		_exit(child_work() == 0);
	return parent_work() == 0 || waitpid(child, &status, 0) != child || status;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t spin_until(uint64_t until)
{
	uint64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_MONOTONIC) < until) {
		for (int i = 0; i < 1000; i++)
			__asm__ volatile("" : "+r"(i));
	}
	return now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

static __attribute__((noinline)) uint64_t first_half(uint64_t until)
{
	return spin_until(until);
}

static __attribute__((noinline)) uint64_t second_half(uint64_t until)
{
	uint64_t took = spin_until(until);

	__asm__ volatile("" : "+r"(took)); /* keeps the compiler from merging both functions */
	return took;
}

static void step(uint64_t period)
{
	uint64_t most = (uint64_t)(seconds * 1e9), spent[2] = { 0, 0 };

	while (spent[0] + spent[1] < most) {
		uint64_t now = now_ns(CLOCK_MONOTONIC), start = now - now % period;

		if (now - start < period / 2)
			spent[0] += first_half(start + period / 2);
		else
			spent[1] += second_half(start + period);
	}
	printf("%llu %llu\n", (unsigned long long)spent[0], (unsigned long long)spent[1]);
}

int main(int argc, char **argv)
{
	seconds = argc == 3 || argc == 4 ? strtod(argv[2], NULL) : 0;
	if (seconds > 0 && strcmp(argv[1], "brief") == 0)
		return brief_work() == 0;
	if (seconds > 0 && strcmp(argv[1], "deep") == 0)
		return deep_work((int)seconds) == 0;
	if (seconds > 0 && strcmp(argv[1], "threads") == 0)
		return threads();
	if (seconds > 0 && strcmp(argv[1], "family") == 0)
		return family();
	if (seconds > 0 && argc == 4 && strcmp(argv[1], "step") == 0 && strtoull(argv[3], NULL, 10) > 1)
		return step(strtoull(argv[3], NULL, 10)), 0;
	fprintf(stderr, "usage: burn brief MS | burn threads SECONDS | burn deep N | burn step SECONDS NS | burn family SECONDS\n");
	return 2;
}
