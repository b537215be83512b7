/*
 * The log of a program whose waits are known. Each of its threads and processes notes an activity, the times
 * at which it began and ended, and how long it would take if nothing came in between: its CPU time, or that
 * of a sleep. All are in ns. An activity is a function, "asleep", "hold", or "wait-" with an object.
 *
 *	WORK(f_light)			// a function that burns CPU time, and logs that
 *
 *	log_open();
 *	name_me("light", -1);
 *	f_light(100 * MS);
 *	start = begin();
 *	...
 *	end("wait-lock", start);
 *	return print_log();
 */
#ifndef CPROF_TESTS_LOADS_BLAME_LOG_H
#define CPROF_TESTS_LOADS_BLAME_LOG_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { MS = 1000000, ENTRIES = 1 << 17 };

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Shared with all processes. */
static struct log {
	atomic_int n;
	struct entry {
		char thread[16], what[16];
		int64_t start, end, due;
	} entries[ENTRIES];
} *notes;
static __thread char my_name[16] = "blame";

struct moment {
	int64_t time, cpu;
};

static struct moment begin(void)
{
	return (struct moment){ now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID) };
}

static void note(const char *what, struct moment start, int64_t due)
{
	struct moment at = begin();
	int n = atomic_fetch_add(&notes->n, 1);
	struct entry *e = &notes->entries[n];

	if (n >= ENTRIES)
		exit(3);
	snprintf(e->thread, sizeof(e->thread), "%s", my_name);
	snprintf(e->what, sizeof(e->what), "%s", what);
	e->start = start.time;
	e->end = at.time;
	e->due = due >= 0 ? due : at.cpu - start.cpu;
}

static void end(const char *what, struct moment start)
{
	note(what, start, -1);
}

static void log_open(void)
{
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (notes == MAP_FAILED)
		exit(2);
}

static int print_log(void)
{
	for (int i = 0; i < notes->n; i++) {
		const struct entry *e = &notes->entries[i];

		printf("%s %s %lld %lld %lld\n", e->thread, e->what, (long long)e->start, (long long)e->end,
		       (long long)e->due);
	}
	return 0;
}

static void rest(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	struct moment start = begin();

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	note("asleep", start, ns);
}

/* The clock of CPU time is a system call, which is not to be seen in the profile. */
static inline __attribute__((always_inline)) void burn(int64_t ns)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns, left;

	while ((left = end - now(CLOCK_THREAD_CPUTIME_ID)) > 0) {
		for (int64_t until = now(CLOCK_MONOTONIC) + left; now(CLOCK_MONOTONIC) < until;)
			for (volatile int i = 0; i < 2000; i++)
				;
	}
}

/* By the line, the compiler cannot make two of them one. */
#define WORK(name)                                             \
	static __attribute__((noinline)) void name(int64_t ns) \
	{                                                      \
		struct moment start = begin();                 \
		burn(ns);                                      \
		end(#name, start);                             \
		__asm__ volatile("" : : "i"(__LINE__));        \
	}

static void name_me(const char *name, int number)
{
	snprintf(my_name, sizeof(my_name), number < 0 ? "%s" : "%s%d", name, number);
	prctl(PR_SET_NAME, my_name);
}

#endif
