/*
 * Servers of a known shape in which one function takes a given part of its time, in percent. A client asks
 * every server thread, waits for all answers, and sleeps for 3 ms.
 *
 *	requests own N PERCENT		4 ms of f_fast, 2 ms of g_other
 *	requests mixed N PERCENT	2 ms of g_other; each second request 4 ms of f_fast before
 *	requests backend N PERCENT	1 ms of g_other; 4 ms of f_fast and 1 ms of g_other in another process
 *	requests lock N PERCENT		two threads: a lock for 3 ms of f_fast, then 1 ms of g_other
 *	requests after N PERCENT	4 ms of g_other; another thread has 2 ms of f_fast then
 *
 * Each prints how long N requests of a thread took in the mean, by the server's own clock, and how long they
 * take on free CPUs, in ns. The work is CPU time, so that it does not depend on the machine's speed. All talk
 * through pipes: a thread that waits for a Unix socket is also woken when its last answer is read.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/known_work.h"

enum { SERVERS = 2 };

static int rounds;
/* Pipes for requests and answers. */
static struct link {
	int requests[2], answers[2];
} links[SERVERS], backend_link, later;

/* Returns false at the end of the connection. */
static __attribute__((noinline)) int next_request(int fd)
{
	char c;

	__asm__ volatile("" : : "i"(3)); /* not the code of get_answer */
	return read(fd, &c, 1) == 1;
}

static __attribute__((noinline)) int get_answer(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

static void put(int fd)
{
	if (write(fd, "", 1) != 1)
		exit(1);
}

static void make_link(struct link *l)
{
	if (pipe(l->requests) || pipe(l->answers))
		exit(1);
}

static void own(int64_t i)
{
	(void)i;
	f_fast(4 * MS);
	g_other(2 * MS);
}

static void mixed(int64_t i)
{
	if (i % 2)
		f_fast(4 * MS);
	g_other(2 * MS);
}

static void backend(int64_t i)
{
	(void)i;
	g_other(1 * MS);
	put(backend_link.requests[1]);
	get_answer(backend_link.answers[0]);
}

static void begin_backend(void)
{
	make_link(&backend_link);
	if (fork())
		return;
	close(backend_link.requests[1]);
	while (get_answer(backend_link.requests[0])) {
		f_fast(4 * MS);
		g_other(1 * MS);
		put(backend_link.answers[1]);
	}
	_exit(0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(int64_t i)
{
	(void)i;
	pthread_mutex_lock(&mutex);
	f_fast(3 * MS);
	pthread_mutex_unlock(&mutex);
	g_other(1 * MS);
}

static void *work_later(void *arg)
{
	while (get_answer(later.requests[0]))
		f_fast(2 * MS);
	return arg;
}

static void begin_after(void)
{
	pthread_t thread;

	make_link(&later);
	if (pthread_create(&thread, NULL, work_later, NULL))
		exit(1);
}

static void after(int64_t i)
{
	(void)i;
	g_other(4 * MS);
	put(later.requests[1]);
}

static void ask(int servers)
{
	struct timespec t = { 0, 3 * MS };

	for (int i = 0; i < rounds; i++) {
		nanosleep(&t, NULL);
		for (int s = 0; s < servers; s++)
			put(links[s].requests[1]);
		for (int s = 0; s < servers; s++)
			get_answer(links[s].answers[0]);
	}
	_exit(0);
}

struct server {
	pthread_t thread;
	struct link *link;
	void (*handle)(int64_t i);
	int64_t ns;
};

static void *serve(void *arg)
{
	struct server *s = arg;

	for (int64_t i = 0; next_request(s->link->requests[0]); i++) {
		int64_t start = now(CLOCK_MONOTONIC);

		s->handle(i);
		put(s->link->answers[1]);
		s->ns += now(CLOCK_MONOTONIC) - start;
	}
	return NULL;
}

/* Returns the mean time of a request. */
static int64_t run(void (*handle)(int64_t i), int n)
{
	struct server servers[SERVERS] = { 0 };
	int64_t sum = 0;

	for (int i = 0; i < n; i++) {
		make_link(&links[i]);
		servers[i] = (struct server){ .link = &links[i], .handle = handle };
	}
	if (fork() == 0)
		ask(n);
	for (int i = 0; i < n; i++) {
		close(links[i].requests[1]);
		if (pthread_create(&servers[i].thread, NULL, serve, &servers[i]))
			exit(1);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(servers[i].thread, NULL);
		sum += servers[i].ns;
	}
	return sum / n / rounds;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*begin)(void);
		void (*handle)(int64_t i);
		int threads;
		int64_t fast, other; /* ns in the mean */
	} shapes[] = {
		{ "own", NULL, own, 1, 4 * MS, 2 * MS },
		{ "mixed", NULL, mixed, 1, 2 * MS, 2 * MS },
		{ "backend", begin_backend, backend, 1, 4 * MS, 2 * MS },
		{ "lock", NULL, lock, 2, 9 * MS / 2, 1 * MS },
		{ "after", begin_after, after, 1, 0, 4 * MS },
	};

	if (argc != 4)
		return 2;
	rounds = atoi(argv[2]);
	percent = atoi(argv[3]);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(argv[1], shapes[i].name) != 0)
			continue;
		if (shapes[i].begin)
			shapes[i].begin();
		printf("%lld", (long long)run(shapes[i].handle, shapes[i].threads));
		printf(" %lld\n", (long long)(shapes[i].fast * percent / 100 + shapes[i].other));
		return 0;
	}
	return 2;
}
