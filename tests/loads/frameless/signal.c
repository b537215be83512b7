/*
 * Signal handlers that burn CPU time, half of the time on an alternate stack; signals arrive while other
 * functions burn, some in the middle of prologues and epilogues. The alternate stack is directly below the
 * thread's own, which is small: a copy of 64 KiB from the handler on reaches the interrupted frames, because
 * all of that memory is present (copying cannot wait for a page).
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

enum { ALTERNATE = 20 << 10, OWN = 32 << 10 };

static volatile uint64_t sink;
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t small(uint64_t a)
{
	return a * 6364136223846793005u + 1442695040888963407u;
}

/* Consists mostly of prologues and epilogues. */
static __attribute__((noinline)) uint64_t pushes(uint64_t a, uint64_t b, int depth)
{
	uint64_t c = a ^ b, d = a + b, e = a - b;

	if (depth == 0)
		return small(a);
	return pushes(d, e, depth - 1) + (a & c) + (b ^ d) + e;
}

static __attribute__((noinline)) uint64_t burn(int rounds)
{
	uint64_t x = 1;

	for (int i = 0; i < rounds; i++)
		x += pushes(x, (uint64_t)i, 5);
	return x;
}

static void handler(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	sink += burn(number == SIGALRM ? 35000 : 20000);
}

/* Handles the second signal on the thread's current stack. */
static void *run(void *stack)
{
	stack_t alternate = { .ss_sp = stack, .ss_size = ALTERNATE };
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&alternate, NULL);
	sigaction(SIGALRM, &a, NULL);
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGVTALRM, &a, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 700 }, { 0, 700 } }, NULL);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ { 0, 1000 }, { 0, 1000 } }, NULL);
	while (now() < until)
		sink += burn(1000);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){ 0 }, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, ALTERNATE + OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t set;

	until = now() + (argc > 1 ? atof(argv[1]) : 1);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGVTALRM);
	pthread_attr_init(&attr);
	if (memory == MAP_FAILED || pthread_attr_setstack(&attr, memory + ALTERNATE, OWN) != 0 ||
	    pthread_create(&thread, &attr, run, memory) != 0)
		return 1;
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_join(thread, NULL);
	return 0;
}
