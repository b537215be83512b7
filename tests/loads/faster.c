/*
 * Programs of a known shape in which one function takes a given part of its time, in percent.
 *
 *	faster serial N PERCENT		main: 3 ms of f_fast, 2 ms of g_other, 1 ms asleep
 *	faster join N PERCENT		main joins threads: 20 ms of g_other, 30 ms of f_fast; 5 ms asleep
 *	faster lock N PERCENT		two threads: a lock for 3 ms of f_fast, then 1 ms of g_other
 *	faster sockets N PERCENT	client: 2 ms of g_other; server: 4 ms of f_fast, 1 ms of g_other
 *	faster timer N PERCENT		main: 4 ms of f_fast each 10 ms, by a timerfd
 *
 * Each prints how long N rounds took, and how long they take on free CPUs, in ns. The work is CPU time, so
 * that it does not depend on the machine's speed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/known_work.h"

static int rounds;

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t serial(void)
{
	struct timespec t = { 0, MS };

	for (int i = 0; i < rounds; i++) {
		f_fast(3 * MS);
		g_other(2 * MS);
		nanosleep(&t, NULL);
	}
	return 3 * MS * percent / 100 + 3 * MS;
}

static void *fast(void *arg)
{
	f_fast(30 * MS);
	return arg;
}

static void *other(void *arg)
{
	g_other(20 * MS);
	return arg;
}

static int64_t join(void)
{
	struct timespec t = { 0, 5 * MS };

	for (int i = 0; i < rounds; i++) {
		pthread_t threads[2];

		if (pthread_create(&threads[0], NULL, other, NULL) ||
		    pthread_create(&threads[1], NULL, fast, NULL))
			exit(1);
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		nanosleep(&t, NULL);
	}
	return larger(30 * MS * percent / 100, 20 * MS) + 5 * MS;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *holder(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		f_fast(3 * MS);
		pthread_mutex_unlock(&mutex);
		g_other(1 * MS);
	}
	return arg;
}

static int64_t lock(void)
{
	int64_t held = 3 * MS * percent / 100;
	pthread_t thread;

	if (pthread_create(&thread, NULL, holder, NULL))
		exit(1);
	holder(NULL);
	pthread_join(thread, NULL);
	return larger(2 * held, held + 1 * MS);
}

static int64_t sockets(void)
{
	int pair[2];
	char c = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(1);
	if (fork() == 0) {
		close(pair[0]);
		while (read(pair[1], &c, 1) == 1) {
			f_fast(4 * MS);
			g_other(1 * MS);
			if (write(pair[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(pair[1]);
	for (int i = 0; i < rounds; i++) {
		g_other(2 * MS);
		if (write(pair[0], &c, 1) != 1 || read(pair[0], &c, 1) != 1)
			exit(1);
	}
	close(pair[0]);
	wait(NULL);
	return 4 * MS * percent / 100 + 3 * MS;
}

static int64_t timer(void)
{
	struct itimerspec every = { { 0, 10 * MS }, { 0, 10 * MS } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t times;

	timerfd_settime(fd, 0, &every, NULL);
	for (int i = 0; i < rounds; i++) {
		if (read(fd, &times, sizeof(times)) != sizeof(times))
			exit(1);
		f_fast(4 * MS);
	}
	return 10 * MS;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int64_t (*run)(void);
	} shapes[] = {
		{ "serial", serial },   { "join", join },   { "lock", lock },
		{ "sockets", sockets }, { "timer", timer },
	};
	int64_t start = now(CLOCK_MONOTONIC), each;

	if (argc != 4)
		return 2;
	rounds = atoi(argv[2]);
	percent = atoi(argv[3]);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(argv[1], shapes[i].name) != 0)
			continue;
		each = shapes[i].run();
		printf("%lld %lld\n", (long long)(now(CLOCK_MONOTONIC) - start), (long long)(each * rounds));
		return 0;
	}
	return 2;
}
