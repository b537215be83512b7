/*
 * Has call probes as CPython has them, and calls functions in known ways:
 *
 *	calls WHAT [ARGUMENT]
 *
 * Innermost functions spin for a tenth of a second of CPU time, so that their stacks are sampled. At the end
 * the program prints how many calls and returns it has reported. The notes are those of <sys/sdt.h>, which may
 * not be installed. The probes are hit only while a tracer has set their semaphores.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define LINE "-4@%k2"
#define TEXT(n) "8@%" n
#else
#define LINE "-4@%w2"
#define TEXT(n) "8@%x" n
#endif

#define PROBE(name, path, function, line)                                                           \
	__asm__ volatile(                                                                           \
		"990:	nop\n"                                                                        \
		"	.pushsection .note.stapsdt,\"?\",%%note\n"                                        \
		"	.balign 4\n"                                                                      \
		"	.4byte 992f-991f, 994f-993f, 3\n"                                                 \
		"991:	.asciz \"stapsdt\"\n"                                                         \
		"992:	.balign 4\n"                                                                  \
		"993:	.8byte 990b\n"                                                                \
		"	.8byte _.stapsdt.base\n"                                                          \
		"	.8byte " name "_semaphore\n"                                                \
		"	.asciz \"python\"\n"                                                              \
		"	.asciz \"" name "\"\n"                                                      \
		"	.asciz \"" TEXT("0") " " TEXT(                                              \
			"1") " " LINE "\"\n"                                                        \
			     "994:	.balign 4\n"                                                     \
			     "	.popsection\n"                                                       \
			     "	.ifndef _.stapsdt.base\n"                                            \
			     "	.pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n" \
			     "	.weak _.stapsdt.base\n"                                              \
			     "	.hidden _.stapsdt.base\n"                                            \
			     "_.stapsdt.base: .space 1\n"                                           \
			     "	.size _.stapsdt.base, 1\n"                                           \
			     "	.popsection\n"                                                       \
			     "	.endif\n" ::"r"(path),                                              \
		"r"(function), "r"(line))

#define SEMAPHORE __attribute__((section(".probes"), used, visibility("hidden")))
unsigned short function__entry_semaphore SEMAPHORE;
unsigned short function__return_semaphore SEMAPHORE;

static long calls, returns;

static __attribute__((noinline)) void enter(const char *function, int line)
{
	if (!*(volatile unsigned short *)&function__entry_semaphore)
		return;
	(void)*(const volatile char *)function; /* so that its page is in memory */
	PROBE("function__entry", "app/calls.py", function, line);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void leave(const char *function, int line)
{
	if (!*(volatile unsigned short *)&function__return_semaphore)
		return;
	PROBE("function__return", "app/calls.py", function, line);
	__atomic_fetch_add(&returns, 1, __ATOMIC_RELAXED);
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void spin(void)
{
	double until = cpu_time() + 0.1;

	while (cpu_time() < until)
		;
}

static void call_leaf(const char *name)
{
	enter(name, 7);
	spin();
	leave(name, 8);
}

static void down(long depth)
{
	enter("down", 10);
	if (depth > 1)
		down(depth - 1);
	else
		spin();
	if (depth == 1000)
		call_leaf("after");
	leave("down", 12);
}

static void unbalanced(void)
{
	enter("unbalanced", 20);
	enter("lost", 21); /* which has no return */
	call_leaf("inside");
	leave("unbalanced", 22);
	leave("never", 23); /* which has no call */
	call_leaf("after");
}

static ucontext_t from, fiber;

static void run_fiber(void)
{
	enter("fiber", 30);
	call_leaf("in_fiber");
	swapcontext(&fiber, &from); /* and never comes back */
}

/* A stack between two pages that cannot be accessed is a mapping of its own. */
static void make_fiber(ucontext_t *c, void (*run)(void))
{
	size_t n = 256 << 10;
	char *stack = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack + 4096, n - 8192, PROT_READ | PROT_WRITE) != 0)
		exit(1);
	getcontext(c);
	c->uc_stack.ss_sp = stack + 4096;
	c->uc_stack.ss_size = n - 8192;
	c->uc_link = NULL;
	makecontext(c, run, 0);
}

static void with_fiber(void)
{
	make_fiber(&fiber, run_fiber);
	enter("caller", 40);
	swapcontext(&from, &fiber);
	call_leaf("between");
	leave("caller", 41);
	call_leaf("later");
}

static void run_turns(void)
{
	for (;;) {
		enter("turn", 32);
		leave("turn", 33);
		swapcontext(&fiber, &from);
	}
}

enum { CHANGED = 256 << 20 }; /* bytes */
static int turned;

/* Changes mappings all the time, so that others cannot look at them. */
static void *change_mappings(void *area)
{
	memset(area, 1, CHANGED);
	while (!__atomic_load_n(&turned, __ATOMIC_RELAXED)) {
		mprotect(area, CHANGED, PROT_READ);
		mprotect(area, CHANGED, PROT_READ | PROT_WRITE);
	}
	return area;
}

/* Switches to a fiber and back many times. */
static void with_turns(long turns)
{
	void *area = mmap(NULL, CHANGED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t id;

	if (area == MAP_FAILED)
		exit(1);
	make_fiber(&fiber, run_turns);
	pthread_create(&id, NULL, change_mappings, area);
	for (long i = 0; i < turns; i++) {
		enter("caller", 42);
		swapcontext(&from, &fiber);
		leave("caller", 43);
	}
	__atomic_store_n(&turned, 1, __ATOMIC_RELAXED);
	pthread_join(id, NULL);
	call_leaf("after");
}

static void *run_thread(void *arg)
{
	enter("thread", 50);
	call_leaf("in_thread");
	leave("thread", 51);
	return arg;
}

static void with_thread(void)
{
	pthread_t id;

	enter("starts", 52);
	pthread_create(&id, NULL, run_thread, NULL);
	pthread_join(id, NULL);
	leave("starts", 53);
}

static void with_fork(void)
{
	enter("forks", 60);
	if (fork() == 0) {
		call_leaf("in_child");
		_exit(0);
	}
	wait(NULL);
	leave("forks", 61);
	call_leaf("alone");
}

static void sleep_in_call(void)
{
	enter("sleeps", 70);
	for (int i = 0; i < 20; i++)
		usleep(20000);
	leave("sleeps", 71);
}

/* Calls until the file exists, below a call that a tracer may have missed. */
static void until_there(const char *path)
{
	enter("oldest", 80);
	while (access(path, F_OK) != 0)
		call_leaf("known");
	leave("oldest", 81);
	with_thread();
}

static void many_names(long n)
{
	static char names[20000][16];

	for (long i = 0; i < n && i < 20000; i++) {
		snprintf(names[i], sizeof(names[i]), "made_%ld", i);
		enter(names[i], 90);
		leave(names[i], 91);
	}
	call_leaf("last");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "1";

	if (strcmp(what, "down") == 0)
		down(atol(arg));
	else if (strcmp(what, "unbalanced") == 0)
		unbalanced();
	else if (strcmp(what, "fiber") == 0)
		with_fiber();
	else if (strcmp(what, "turns") == 0)
		with_turns(atol(arg));
	else if (strcmp(what, "thread") == 0)
		with_thread();
	else if (strcmp(what, "fork") == 0)
		with_fork();
	else if (strcmp(what, "sleep") == 0)
		sleep_in_call();
	else if (strcmp(what, "until") == 0)
		until_there(arg);
	else if (strcmp(what, "names") == 0)
		many_names(atol(arg));
	else
		return 2;
	printf("%ld calls and %ld returns\n", calls, returns);
	return 0;
}
