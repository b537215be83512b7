/*
 * Calls through the PLT, and the first calls of many functions: a program with lazy binding (-Wl,-z,lazy)
 * that is executed again and again, so that ld.so's _dl_runtime_resolve, with its CFA from rbx, runs often.
 */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static volatile uint64_t sink;
static const char *volatile text = "a text of some length";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Calls cheap functions many times, so that the stubs themselves take a good part of the time. */
static __attribute__((noinline)) uint64_t stubs(int rounds)
{
	uint64_t sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += (uint64_t)(abs(i) + (int)labs(i) + ffs(i) + toupper(i & 127) + tolower(i & 127) + (int)getppid());
	return sum;
}

/* Calls each function once per process, so that each is looked up. */
static __attribute__((noinline)) uint64_t firsts(void)
{
	char room[64];
	wchar_t wide[32];
	uint64_t sum = strlen(text) + (uint64_t)strcmp(text, "a") + (uint64_t)atoi(text) + (uint64_t)strtol(text, NULL, 10);

	strcpy(room, text);
	strncat(room, "b", 1);
	memmove(room + 1, room, 8);
	mbstowcs(wide, text, 32);
	sum += wcslen(wide) + (uint64_t)towupper((wint_t)wide[0]) + (uint64_t)iswalpha((wint_t)wide[1]);
	sum += (uint64_t)strcasecmp(room, text) + (uint64_t)(strchr(room, 'x') != NULL) + (uint64_t)(strstr(room, "of") != NULL);
	sum += strspn(room, "a ") + strcspn(room, "x") + (uint64_t)(strpbrk(room, "t") != NULL) + (uint64_t)random();
	sum += (uint64_t)(memchr(room, 't', 8) != NULL) + (uint64_t)lrand48() + (uint64_t)geteuid() + (uint64_t)getegid();
	sum += (uint64_t)getuid() + (uint64_t)getgid() + (uint64_t)getpgrp() + (uint64_t)strtod(text, NULL) + strnlen(room, 3);
	return sum;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 1);

	if (argc > 2) {
		sink += firsts();
		return 0;
	}
	while (now() < until) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl("/proc/self/exe", argv[0], "0", "child", (char *)NULL);
			_exit(127);
		}
		sink += stubs(20000);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
