/*
 * Looks like an executable with HotSpot in it, whose tables lie.
 *	lang-hostile-java TRAP SECONDS
 *
 * TRAP: missing: the tables lack a member. endless: a table has no end. silent: reading the tables waits
 * for ever. noise: the tables are whole, code runs in the code heap, and everything there is noise.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/made-java.h"

#define VARIABLE(name)        \
	extern uint64_t name; \
	uint64_t name

VARIABLE(gHotSpotVMStructs) = 1;
VARIABLE(gHotSpotVMStructEntryArrayStride) = MADE_JAVA_STRIDE;
VARIABLE(gHotSpotVMStructEntryTypeNameOffset) = 0;
VARIABLE(gHotSpotVMStructEntryFieldNameOffset) = 8;
VARIABLE(gHotSpotVMStructEntryIsStaticOffset) = 24;
VARIABLE(gHotSpotVMStructEntryOffsetOffset) = 32;
VARIABLE(gHotSpotVMStructEntryAddressOffset) = 40;
VARIABLE(gHotSpotVMTypes) = MADE_JAVA_AT + MADE_JAVA_TYPES;
VARIABLE(gHotSpotVMTypeEntryArrayStride) = 32;
VARIABLE(gHotSpotVMTypeEntryTypeNameOffset) = 0;
VARIABLE(gHotSpotVMTypeEntrySizeOffset) = 24;

static struct made_java made;

static uint64_t random_u64(void)
{
	static uint64_t state;
	uint64_t x = state += 0x9e3779b97f4a7c15; /* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns memory whose first access waits until this process ends. */
static uint64_t silent_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	void *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_register range = { .range = { (uintptr_t)at, 1 << 20 },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0
		       ? (uintptr_t)at
		       : 0;
}

/* Every entry of this table is whole. */
static uint64_t endless_memory(void)
{
	size_t n = 16 << 20;
	uint64_t *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; at != MAP_FAILED && i < n / 8; i++)
		at[i] = (uintptr_t)at + i * 4096 % n;
	return (uintptr_t)at;
}

/* A word that a reader of the heap may take for a pointer, a length, or an offset. */
static uint64_t noise(void)
{
	uint64_t r = random_u64();

	switch (r % 8) {
	case 0:
		return r >> 8;
	case 1:
		return (r >> 8) % 256;
	case 2:
		return UINT64_MAX - (r >> 8) % 64;
	case 3:
		return MADE_JAVA_AT + MADE_JAVA_BYTES + (r >> 8) % 65536; /* not mapped */
	default:
		return MADE_JAVA_AT + (r >> 8) % MADE_JAVA_BYTES;
	}
}

/* Runs the code with noise in its stack, and comes back by a return address that is saved elsewhere. */
static void run_code(uint64_t code, uint64_t *stack, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stack[i] = noise();
	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "mov %%rbp, %%r13\n\t"
			 "mov %1, %%rsp\n\t"
			 "lea 128(%1), %%rbp\n\t"
			 "lea 1f(%%rip), %%r14\n\t"
			 "mov $1000000, %%ecx\n\t"
			 "jmp *%0\n"
			 "1:\n\t"
			 "mov %%r12, %%rsp\n\t"
			 "mov %%r13, %%rbp"
			 :
			 : "r"(code), "r"(stack + n / 2)
			 : "rcx", "r12", "r13", "r14", "memory", "cc");
}

enum { BLOCK = 256, HEADER = 16, NAME = HEADER + 96, BLOBS = 6, CODE = 160 };

/*
 * Makes the heap whole again, but for noise in a third of the words of each blob up to its code; in half of the
 * cases, the segment map and the blocks' headers have noise, too.
 */
static void make_noise(uint8_t *memory, uint64_t code)
{
	static const uint8_t loop[] = {
		0xff, 0xc9, 0x75, 0xfc, 0x41, 0xff, 0xe6
	}; /* dec ecx; jnz; jmp *r14 */
	bool torn = random_u64() % 2;

	memcpy(memory + MADE_JAVA_MAPS, made.bytes + MADE_JAVA_MAPS, 256);
	memcpy(memory + MADE_JAVA_HEAPS, made.bytes + MADE_JAVA_HEAPS, BLOBS * BLOCK);
	for (size_t at = 0; at < BLOBS * BLOCK; at += 8) {
		size_t in = at % BLOCK;
		uint64_t word = noise();

		if (random_u64() % 3 == 0 && in != NAME && (in >= HEADER || torn))
			memcpy(memory + MADE_JAVA_HEAPS + at, &word, 8);
	}
	for (int i = 0; torn && i < 2; i++)
		memory[MADE_JAVA_MAPS + random_u64() % 16] = (uint8_t)random_u64();
	memcpy(memory + (code - MADE_JAVA_AT), loop, sizeof(loop));
}

static void run_noise(double until)
{
	static uint64_t stack[2048];
	uint8_t *memory = (uint8_t *)(uintptr_t)MADE_JAVA_AT;
	static const size_t blobs[] = { 1, 3, 4,
					5 }; /* stubs, the interpreter, an nmethod, the return barrier */

	while (now() < until) {
		uint64_t code = MADE_JAVA_AT + MADE_JAVA_HEAPS + BLOCK * blobs[random_u64() % 4] + CODE +
				random_u64() % 64;

		make_noise(memory, code);
		run_code(code, stack, 2048);
	}
}

static uint64_t choose_structs(const char *trap)
{
	if (strcmp(trap, "endless") == 0)
		return endless_memory();
	return strcmp(trap, "silent") == 0 ? silent_memory() : MADE_JAVA_AT + MADE_JAVA_ENTRIES;
}

int main(int argc, char **argv)
{
	const char *trap = argc > 2 ? argv[1] : "";
	double until = now() + (argc > 2 ? atof(argv[2]) : 0);
	size_t less = strcmp(trap, "missing") == 0;
	void *at = mmap((void *)(uintptr_t)MADE_JAVA_AT, MADE_JAVA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED || argc != 3)
		return 2;
	made_java_fill(&made, made_java_fields + less, MADE_JAVA_FIELDS - less);
	memcpy(at, made.bytes, MADE_JAVA_BYTES);
	gHotSpotVMStructs = choose_structs(trap);
	if (!gHotSpotVMStructs)
		return 77;
	if (strcmp(trap, "noise") == 0)
		run_noise(until);
	while (now() < until)
		;
	return 0;
}
