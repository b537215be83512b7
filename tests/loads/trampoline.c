/*
 * trampoline SECONDS: calls each function through a trampoline of its own, as CPython does with -X perf:
 * outer, middle and inner, which does the work. Prints "none" on processors without code here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/loads/attributes.h"

enum { BYTES = 4096, APART = 16 };

static uint8_t *code;
static double until;
static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef int evaluator(void *state, void *frame, int flag);
typedef int trampoline(void *state, void *frame, int flag, evaluator *e);

/* Calls through trampoline number i. */
static int through(int i, evaluator *e)
{
	return ((trampoline *)(uintptr_t)(code + i * APART))(NULL, NULL, 0, e);
}

static AS_WRITTEN int inner(void *state, void *frame, int flag)
{
	(void)state;
	(void)frame;
	while (now() < until)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1664525 + 1013904223;
	return flag;
}

static AS_WRITTEN int middle(void *state, void *frame, int flag)
{
	(void)state;
	(void)frame;
	return through(1, inner) + flag + (int)(sink & 0);
}

static AS_WRITTEN int outer(void *state, void *frame, int flag)
{
	(void)state;
	(void)frame;
	return through(2, middle) + flag + (int)(sink & 0);
}

int main(int argc, char **argv)
{
#ifdef __x86_64__
	/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
	static const uint8_t one[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
#else
	static const uint8_t one[1];
#endif
	if (argc != 2)
		return 2;
	if (sizeof(one) == 1) {
		puts("none");
		return 0;
	}
	code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	for (int i = 0; i < BYTES / APART; i++)
		memcpy(code + i * APART, one, sizeof(one));
	if (mprotect(code, BYTES, PROT_READ | PROT_EXEC) < 0)
		return 1;
	until = now() + strtod(argv[1], NULL);
	return through(0, outer);
}
