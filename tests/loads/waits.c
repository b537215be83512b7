/*
 * Threads with known waits: each computes, sleeps, waits for a lock and for a pipe in turn, and at the end
 * prints how it spent its time, by the clocks.
 *
 *	waits SECONDS
 *	waits still		sleeps until it is killed
 *	waits vfork SECONDS	waits for a vfork child that uses its memory, which cannot be interrupted
 *	waits spin SECONDS	two processes on one CPU
 *	waits rare SECONDS	short sleeps, and a long one from another place now and then; prints tid,
 *				wall, CPU, time in the long ones
 *	waits naps NS SECONDS	sleeps for NS again and again; prints tid, wall, CPU
 *
 * The first form prints a line for each thread: tid, wall, CPU, compute, sleep, lock, pipe; in nanoseconds.
 * The last four are the time that the calls took, less the CPU time meanwhile.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, MS = 1000000 };

enum phase { COMPUTE, SLEEP, LOCK, PIPE, PHASES };

struct worker {
	pthread_t thread;
	int number, tid;
	int64_t wall, cpu, off[PHASES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static int pipes[2];
static double seconds;

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void rest(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

__attribute__((noinline)) static void phase_compute(int64_t ns)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

__attribute__((noinline)) static void phase_sleep(int64_t ns)
{
	rest(ns);
	__asm__ volatile("");
}

__attribute__((noinline)) static void phase_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	__asm__ volatile("");
}

__attribute__((noinline)) static void phase_pipe(void)
{
	char c;

	if (read(pipes[0], &c, 1) != 1)
		exit(1);
	__asm__ volatile("");
}

static void begin(int64_t *wall, int64_t *cpu)
{
	*wall = now(CLOCK_MONOTONIC);
	*cpu = now(CLOCK_THREAD_CPUTIME_ID);
}

static void end(struct worker *w, enum phase phase, int64_t wall, int64_t cpu)
{
	w->off[phase] += now(CLOCK_MONOTONIC) - wall - (now(CLOCK_THREAD_CPUTIME_ID) - cpu);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int64_t start = now(CLOCK_MONOTONIC), until = start + (int64_t)(seconds * 1e9), wall, cpu;

	w->tid = (int)syscall(SYS_gettid);
	while (now(CLOCK_MONOTONIC) < until) {
		begin(&wall, &cpu);
		phase_compute((2 + w->number) * MS);
		end(w, COMPUTE, wall, cpu);
		begin(&wall, &cpu);
		phase_sleep((10 - 3 * w->number) * MS);
		end(w, SLEEP, wall, cpu);
		begin(&wall, &cpu);
		phase_lock();
		end(w, LOCK, wall, cpu);
		begin(&wall, &cpu);
		phase_pipe();
		end(w, PIPE, wall, cpu);
	}
	w->wall = now(CLOCK_MONOTONIC) - start;
	w->cpu = now(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* Holds the lock most of the time, with short breaks. */
static void *hold(void *arg)
{
	(void)arg;
	while (!stop) {
		pthread_mutex_lock(&lock);
		rest(8 * MS);
		pthread_mutex_unlock(&lock);
		rest(3 * MS);
	}
	return NULL;
}

/* Writes a byte now and then. */
static void *feed(void *arg)
{
	(void)arg;
	while (!stop) {
		rest(12 * MS);
		if (write(pipes[1], "x", 1) != 1)
			exit(1);
	}
	return NULL;
}

static int days(double length)
{
	struct worker workers[THREADS] = { 0 };
	pthread_t holder, feeder;

	seconds = length;
	if (pipe(pipes) < 0)
		return 1;
	pthread_create(&holder, NULL, hold, NULL);
	pthread_create(&feeder, NULL, feed, NULL);
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	stop = 1;
	pthread_join(holder, NULL);
	pthread_join(feeder, NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%d %lld %lld %lld %lld %lld %lld\n", workers[i].tid, (long long)workers[i].wall, (long long)workers[i].cpu,
		       (long long)workers[i].off[COMPUTE], (long long)workers[i].off[SLEEP],
		       (long long)workers[i].off[LOCK], (long long)workers[i].off[PIPE]);
	return 0;
}

__attribute__((noinline)) static int phase_vfork(int64_t ns)
{
	pid_t child = vfork();

	if (child == 0) {
		rest(ns);
		_exit(0);
	}
	return child < 0;
}

static int spin(double s)
{
	int64_t end = now(CLOCK_MONOTONIC) + (int64_t)(s * 1e9);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || fork() < 0)
		return 1;
	while (now(CLOCK_MONOTONIC) < end)
		phase_compute(MS);
	return 0;
}

/* Runs in a new thread, which has no time before the measurement. */
static void *naps(void *argv)
{
	int64_t start = now(CLOCK_MONOTONIC), ns = atoll(((char **)argv)[2]), end = start + (int64_t)(atof(((char **)argv)[3]) * 1e9);

	while (now(CLOCK_MONOTONIC) < end)
		phase_sleep(ns);
	printf("%d %lld %lld\n", (int)syscall(SYS_gettid), (long long)(now(CLOCK_MONOTONIC) - start),
	       (long long)now(CLOCK_THREAD_CPUTIME_ID));
	return NULL;
}

/* Both functions sleep by the same call, at the same depth; their code differs, or it would be merged. */
__attribute__((noinline)) static void phase_often(int64_t ns)
{
	phase_sleep(ns);
	__asm__ volatile("nop");
}

__attribute__((noinline)) static void phase_rare(int64_t ns)
{
	phase_sleep(ns);
	__asm__ volatile("");
}

static void *rare(void *argv)
{
	int64_t start = now(CLOCK_MONOTONIC), end = start + (int64_t)(atof(((char **)argv)[2]) * 1e9), asleep = 0, wall, cpu;

	while (now(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 200; i++)
			phase_often(MS / 5);
		begin(&wall, &cpu);
		phase_rare(60 * MS);
		asleep += now(CLOCK_MONOTONIC) - wall - (now(CLOCK_THREAD_CPUTIME_ID) - cpu);
	}
	printf("%d %lld %lld %lld\n", (int)syscall(SYS_gettid), (long long)(now(CLOCK_MONOTONIC) - start),
	       (long long)now(CLOCK_THREAD_CPUTIME_ID), (long long)asleep);
	return NULL;
}

static int alone(void *(*what)(void *), char **argv)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, what, argv) || pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "still") == 0)
		phase_sleep(3600 * (int64_t)1000000000);
	if (argc > 2 && strcmp(argv[1], "vfork") == 0)
		return phase_vfork((int64_t)(atof(argv[2]) * 1e9));
	if (argc > 2 && strcmp(argv[1], "spin") == 0)
		return spin(atof(argv[2]));
	if (argc > 2 && strcmp(argv[1], "rare") == 0)
		return alone(rare, argv);
	if (argc > 3 && strcmp(argv[1], "naps") == 0)
		return alone(naps, argv);
	return days(argc > 1 ? atof(argv[1]) : 2);
}
