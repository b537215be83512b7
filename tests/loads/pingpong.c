/*
 * Two processes that only wait for each other: a byte goes through one pipe and back through another.
 *
 *	pingpong SECONDS [DEPTH [MICROSECONDS]]
 *
 * Prints round trips per second, and the nanoseconds of CPU time that one takes in both, which depend less on
 * the machine's other load. Each side calls DEPTH functions deep, so that stacks have some length. The first
 * one sleeps for MICROSECONDS before each round trip, so that it waits for a timer and the other one for it.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static int turn(int in, int out, int depth)
{
	char c = 'x';

	if (depth > 0) {
		int got = turn(in, out, depth - 1);

		__asm__ volatile("");
		return got;
	}
	return write(out, &c, 1) == 1 && read(in, &c, 1) == 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, start, cpu;
	int depth = argc > 2 ? atoi(argv[2]) : 10, a[2], b[2];
	useconds_t pause = argc > 3 ? (useconds_t)atoi(argv[3]) : 0;
	clockid_t childs;
	cpu_set_t one;
	long n = 0;
	pid_t child;

	/* Both run on one CPU: each turn is a switch, and neither sleeps so long that the CPU idles. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(a) < 0 || pipe(b) < 0 || (child = fork()) < 0)
		return 1;
	if (child == 0) {
		close(a[1]);
		close(b[0]);
		while (turn(a[0], b[1], depth))
			;
		_exit(0);
	}
	if (clock_getcpuclockid(child, &childs))
		return 1;
	start = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) + now(childs);
	while (now(CLOCK_MONOTONIC) - start < seconds)
		for (int i = 0; i < 100; i++, n++)
			if ((pause && usleep(pause)) || !turn(b[0], a[1], depth))
				return 1;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) + now(childs) - cpu;
	printf("%.0f %.0f\n", (double)n / (now(CLOCK_MONOTONIC) - start), cpu * 1e9 / (double)n);
	kill(child, SIGKILL);
	return 0;
}
