/*
 * Known chains of calls, each of which ends in work().
 *
 *	chain deep N SECONDS		main, N times dive
 *	chain threads SECONDS		first in one thread, second in another
 *	chain forks N			N processes, one after the other: each parent in parent_side, then
 *					its child in child_side, for 15 ms each
 *	chain load N A B		N times: loads library A, calls its function "enter" with work, and
 *					unloads it; then B. Prints how often B was at A's address
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static APART uint64_t work(uint64_t seed)
{
	for (int i = 0; i < 1000000; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

static APART uint64_t work_for(double seconds)
{
	double until = now() + seconds;
	uint64_t sum = 0;

	while (now() < until)
		sum += work(sum);
	return sum;
}

/* A small frame, so that many fit into the copied part of a stack; the store prevents a tail call. */
static APART uint64_t dive(uint64_t n)
{
	uint64_t got = n ? dive(n - 1) : work(n);

	sink = got;
	return got ^ n;
}

static int deep(uint64_t n, double seconds)
{
	double until = now() + seconds;

	while (now() < until)
		sink += dive(n - 1);
	return 0;
}

static APART void *first(void *seconds)
{
	sink += work_for(*(double *)seconds);
	return NULL;
}

static APART void *second(void *seconds)
{
	sink += work_for(*(double *)seconds);
	return NULL;
}

static int threads(double seconds)
{
	pthread_t a, b;

	return pthread_create(&a, NULL, first, &seconds) || pthread_create(&b, NULL, second, &seconds) ||
	       pthread_join(a, NULL) || pthread_join(b, NULL);
}

static APART void parent_side(void)
{
	sink += work_for(0.015);
}

static APART void child_side(void)
{
	sink += work_for(0.015);
}

static int forks(long n)
{
	for (; n > 0; n--) {
		int status;
		pid_t pid;

		parent_side();
		pid = fork();
		if (pid == 0) {
			child_side();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* Returns the library's address; NULL if it cannot be loaded. */
static APART void *call_in(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *at = library ? dlsym(library, "enter") : NULL;
	uint64_t (*enter)(uint64_t (*)(uint64_t));
	Dl_info info;

	if (!at || !dladdr(at, &info))
		return NULL;
	memcpy(&enter, &at, sizeof(enter));
	for (int i = 0; i < 20; i++)
		sink += enter(work);
	at = info.dli_fbase;
	return dlclose(library) == 0 ? at : NULL;
}

static int load(long n, const char *a, const char *b)
{
	long same = 0;

	for (long i = 0; i < n; i++) {
		void *was = call_in(a), *is = call_in(b);

		if (!was || !is)
			return 1;
		same += was == is;
	}
	printf("%ld\n", same);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "deep") == 0)
		return deep(strtoul(argv[2], NULL, 10), strtod(argv[3], NULL));
	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return threads(strtod(argv[2], NULL));
	if (argc == 3 && strcmp(argv[1], "forks") == 0)
		return forks(atol(argv[2]));
	if (argc == 5 && strcmp(argv[1], "load") == 0)
		return load(atol(argv[2]), argv[3], argv[4]);
	fprintf(stderr, "usage: chain deep N SECONDS | chain threads SECONDS | chain forks N | chain load N A B\n");
	return 2;
}
