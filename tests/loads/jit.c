/*
 * A simple JIT compiler: puts the same code into its own memory under two names, one after the other, and
 * lists it in /tmp/perf-PID.map, as JIT compilers do.
 *
 *	jit SECONDS		first_name for the first half, then second_name at the same address
 *	jit SECONDS late	late_name, which is written to the map at the end; the map stays
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/attributes.h"

enum { CODE = 512 };

/* Needs nothing but its argument, so it runs wherever it is copied to. */
static MOVABLE uint32_t code(uint32_t x)
{
	for (int i = 0; i < 1000000; i++) {
		x = x * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "first_name", "second_name" };
	double seconds = argc >= 2 ? strtod(argv[1], NULL) : 0;
	bool late = argc == 3 && strcmp(argv[2], "late") == 0;
	uint32_t (*run)(uint32_t);
	uint32_t x = 1;
	char path[64];
	void *page;
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	page = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map = fopen(late ? "/dev/null" : path, "we");
	if (seconds <= 0 || page == MAP_FAILED || !map)
		return 1;
	for (int i = 0; i < 2; i++) {
		double until = now() + seconds / 2;

		memcpy(page, (const void *)code, CODE);
		__builtin___clear_cache((char *)page, (char *)page + CODE);
		fprintf(map, "%lx %x %s\n", (unsigned long)page, CODE, names[i]);
		fflush(map);
		memcpy(&run, &page, sizeof(page));
		while (now() < until)
			x = run(x);
	}
	fclose(map);
	if (!late) {
		unlink(path);
		return x == 0;
	}
	map = fopen(path, "we");
	return !map || fprintf(map, "%lx %x late_name\n", (unsigned long)page, CODE) < 0 || fclose(map) != 0 || x == 0;
}
