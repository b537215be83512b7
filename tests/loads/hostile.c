/*
 * Processes that make the recorder's work hard, for tests/cmd/record-hostile.t.
 *
 *	hostile mappings N CHILDREN SECONDS
 *				N executable mappings, which CHILDREN inherit; each adds one, and runs, and the
 *				parent changes its own
 *	hostile flood N SECONDS	N executable mappings, again and again
 *	hostile forks N SECONDS	at most N processes of this user, which all fork and exit without end
 *	hostile changes SECONDS	a name and a mapping of a new file in memory, both changed again and again
 *	hostile reuse N A B	N processes, one after another, that all have the same PID: by turns the program
 *				A, the program B, and a child that runs in own_work
 *
 * `mappings` prints a line for each of both once they are there, `flood` one for the first N, `forks` one
 * before the first, `changes` one after the first thousand, `reuse` one at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/attributes.h"

enum { PAGE = 4096 };

static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static AS_WRITTEN int own_work(double until)
{
	while (now() < until)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1664525 + 1013904223;
	return (int)(sink & 0);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void say(const char *what, long n)
{
	printf("%s %ld\n", what, n);
	fflush(stdout);
}

/* Two mappings of the same page do not become one. */
static void *map_page(int fd)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Changes the mappings a thousand times a second. */
static void remap(int fd, double until)
{
	while (now() < until) {
		void *p = map_page(fd);

		own_work(now() + 0.001);
		if (p)
			munmap(p, PAGE);
	}
}

static int run_mappings(long n, long children, double until)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	long i = 0;

	if (fd < 0)
		return 1;
	while (i < n && map_page(fd))
		i++;
	say("mappings", i);
	for (i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			map_page(fd);
			return own_work(until);
		}
		if (pid < 0)
			break;
	}
	say("children", i);
	remap(fd, until);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int run_flood(long n, double until)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *all = mmap(NULL, (size_t)n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool said = false;

	if (fd < 0 || all == MAP_FAILED)
		return 1;
	while (now() < until) {
		for (long i = 0; i < n; i++)
			mmap(all + i * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
		if (!said)
			say("mappings", n);
		said = true;
		mmap(all, (size_t)n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	}
	return 0;
}

static int run_changes(double until)
{
	void *p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[200];

	if (p == MAP_FAILED)
		return 1;
	for (long i = 1; now() < until; i++) {
		int n = snprintf(name, sizeof(name), "%0150ld", i), fd = memfd_create(name, MFD_CLOEXEC);

		prctl(PR_SET_NAME, name + n - 15);
		if (fd >= 0 && ftruncate(fd, PAGE) == 0)
			mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
		if (fd >= 0)
			close(fd);
		if (i == 1000)
			say("changes", i);
	}
	return 0;
}

/* Two attempts for each process, so that their number grows up to the limit and stays there. */
static void fork_twice(double until)
{
	for (int i = 0; i < 2 && now() < until; i++)
		if (fork() == 0)
			i = -1;
	_exit(0);
}

static int run_forks(long n, double until)
{
	const struct rlimit most = { (rlim_t)n, (rlim_t)n };

	signal(SIGCHLD, SIG_IGN);
	if (setrlimit(RLIMIT_NPROC, &most) < 0)
		return perror("setrlimit"), 1;
	say("processes", n);
	while (now() < until)
		if (fork() == 0)
			fork_twice(until);
	return 0;
}

/* Forks a child with this PID; -1 with errno. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = (uintptr_t)&pid,
				.set_tid_size = pid ? 1 : 0 };

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

static int run_reuse(long n, char *a, char *b)
{
	pid_t first = 0;

	for (long i = 0; i < n; i++) {
		pid_t pid = fork_as(first);

		if (pid == 0 && i % 3 == 2) {
			prctl(PR_SET_NAME, "own");
			_exit(own_work(now() + 0.02));
		}
		if (pid == 0) {
			execl(i % 3 ? b : a, i % 3 ? b : a, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 && errno == EEXIST) { /* somebody else has it for now */
			i--;
			pause_ms(1);
			continue;
		}
		if (pid < 0)
			return perror("clone3"), 1;
		first = pid;
		waitpid(pid, NULL, 0);
	}
	say("reused", first);
	return 0;
}

int main(int argc, char **argv)
{
	double until = argc > 2 ? now() + strtod(argv[argc - 1], NULL) : 0;

	if (argc == 5 && strcmp(argv[1], "mappings") == 0)
		return run_mappings(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), until);
	if (argc == 4 && strcmp(argv[1], "flood") == 0)
		return run_flood(strtol(argv[2], NULL, 10), until);
	if (argc == 4 && strcmp(argv[1], "forks") == 0)
		return run_forks(strtol(argv[2], NULL, 10), until);
	if (argc == 3 && strcmp(argv[1], "changes") == 0)
		return run_changes(until);
	if (argc == 5 && strcmp(argv[1], "reuse") == 0)
		return run_reuse(strtol(argv[2], NULL, 10), argv[3], argv[4]);
	fprintf(stderr, "usage: hostile mappings N CHILDREN SECONDS | flood N SECONDS | forks N SECONDS | "
			"changes SECONDS | reuse N A B\n");
	return 2;
}
