/*
 * A simple JIT compiler that writes its code to a jitdump file, jit-PID.dump in the current directory:
 *
 *	jitdump SECONDS [late | thread]		of CPU time
 *
 * In the first quarter it runs code that is not in the file yet, told_later; in the second first_name; in the
 * third second_name at the same address, which has moved in the last. told_later is written at the end. With
 * "late" all is written at the end, with the original times. With "thread" also, but to jitTID-PID.dump.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/loads/attributes.h"

enum { CODE = 512, PAGE = 4096, LOAD = 0, MOVE = 1, CLOSE = 3 };

typedef uint32_t function(uint32_t x);

/* Needs nothing but its argument, so it runs wherever it is copied to. */
static MOVABLE uint32_t code(uint32_t x)
{
	for (int i = 0; i < 1000000; i++) {
		x = x * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static uint64_t time_by(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put_header(FILE *f)
{
	put32(f, 0x4a695444);
	put32(f, 1);
	put32(f, 40);
	put32(f, 62);
	put32(f, 0);
	put32(f, (uint32_t)getpid());
	put64(f, time_by(CLOCK_MONOTONIC));
	put64(f, 0);
}

static void put_record(FILE *f, uint32_t id, uint32_t size)
{
	put32(f, id);
	put32(f, size);
	put64(f, time_by(CLOCK_MONOTONIC));
}

static void put_code(FILE *f)
{
	put32(f, (uint32_t)getpid());
	put32(f, (uint32_t)getpid());
}

static void put_load(FILE *f, const uint8_t *at, const char *name)
{
	size_t n = strlen(name) + 1;

	put_record(f, LOAD, (uint32_t)(56 + n + CODE));
	put_code(f);
	put64(f, (uintptr_t)at);
	put64(f, (uintptr_t)at);
	put64(f, CODE);
	put64(f, 1);
	fwrite(name, n, 1, f);
	fwrite(at, CODE, 1, f);
}

static void put_move(FILE *f, const uint8_t *from, const uint8_t *to)
{
	put_record(f, MOVE, 64);
	put_code(f);
	put64(f, (uintptr_t)to);
	put64(f, (uintptr_t)from);
	put64(f, (uintptr_t)to);
	put64(f, CODE);
	put64(f, 1);
}

static uint32_t run_at(uint8_t *at, double seconds, uint32_t x)
{
	uint64_t until = time_by(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
	function *run;

	memcpy(at, (const void *)code, CODE);
	__builtin___clear_cache((char *)at, (char *)at + CODE);
	memcpy(&run, &at, sizeof(at));
	while (time_by(CLOCK_PROCESS_CPUTIME_ID) < until)
		x = run(x);
	return x;
}

int main(int argc, char **argv)
{
	double quarter = argc > 1 ? strtod(argv[1], NULL) / 4 : 0;
	char path[64];
	uint8_t *pages;
	uint32_t x = 1;
	FILE *f;

	if (argc > 2 && strcmp(argv[2], "thread") == 0)
		snprintf(path, sizeof(path), "jit%d-%d.dump", (int)gettid(), (int)getpid());
	else
		snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+e");
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (quarter <= 0 || pages == MAP_FAILED || !f ||
	    setvbuf(f, NULL, argc > 2 ? _IOFBF : _IONBF, argc > 2 ? 1 << 20 : 0) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		return 1;
	put_header(f);
	x = run_at(pages, quarter, x);
	put_load(f, pages + PAGE, "first_name");
	x = run_at(pages + PAGE, quarter, x);
	put_load(f, pages + PAGE, "second_name");
	x = run_at(pages + PAGE, quarter, x);
	put_move(f, pages + PAGE, pages + 2 * PAGE);
	x = run_at(pages + 2 * PAGE, quarter, x);
	put_load(f, pages, "told_later");
	put_record(f, CLOSE, 16);
	fclose(f);
	unlink(path);
	return x == 0;
}
