/*
 * Looks like the executable of Python 3.11, or of perl 5.36 with -DHOSTILE_PERL, and holds in turn
 * everything that the structures of an interpreter should not hold. The loop runs all the time.
 *	lang-hostile [SECONDS]		of each trap, 0.15 by default
 *
 * Offsets: common/python/python_offsets.c; bpf/lang/perl.bpf.h.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = 32 * PAGE / 8 };

static pthread_key_t key;
static uint64_t *arena; /* WORDS, and after it pages that are not mapped */
static atomic_bool done;

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t random_u64(void)
{
	static uint64_t state;
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t in_arena(uint64_t at) { return (uint64_t)(uintptr_t)arena + at; }
static uint64_t unmapped(void) { return in_arena(WORDS * 8) + random_u64() % PAGE; }

static void put(uint64_t at, uint64_t value) { memcpy((char *)arena + at, &value, 8); }

/* A value that is wrong in its own way. */
static uint64_t wrong(void)
{
	switch (random_u64() % 8) {
	case 0: return 1ull << 60;
	case 1: return unmapped();
	case 2: return 0xffffffff81000000ull + random_u64() % (64 << 20); /* the kernel's code */
	case 3: return 0xffff888000000000ull + random_u64() % (1ull << 30); /* its memory */
	case 4: return 0x8000000000000000ull; /* not canonical */
	case 5: return in_arena(WORDS * 8 - random_u64() % 64); /* across the end of the mapping */
	case 6: return UINT64_MAX - random_u64() % 16;
	default: return random_u64();
	}
}

#ifndef HOSTILE_PERL

/* Python exports these. */
struct type {
	uint64_t before[4], basicsize, after[45];
};
extern struct type PyCode_Type;
extern const uint64_t Py_Version;
extern unsigned char _PyRuntime[4096];
struct type PyCode_Type = { .basicsize = 184 };
const uint64_t Py_Version = 0x030b02f0;
unsigned char _PyRuntime[4096] = { 1 };

enum { THREAD = 0, CFRAME = 512, FRAMES = 1024, FRAME = 128, CODE = 65536,
	NAME = 66048, FILE_NAME = 66560, TABLE = 67072 };

static void publish_key(void) { memcpy(_PyRuntime + 596, &key, sizeof(key)); }

static void put_text(uint64_t at, const char *text)
{
	put(at + 16, strlen(text));
	put(at + 32, 1 << 2 | 0x20 | 0x40);
	strcpy((char *)arena + at + 48, text);
}

/* A thread with n frames of one function. */
static void make_good(int n)
{
	memset(arena, 0, WORDS * 8);
	put(THREAD + 56, in_arena(CFRAME));
	put(CFRAME + 8, in_arena(FRAMES));
	for (int i = 0; i < n; i++) {
		put(FRAMES + i * FRAME + 32, in_arena(CODE));
		put(FRAMES + i * FRAME + 48, i + 1 < n ? in_arena(FRAMES + (i + 1) * FRAME) : 0);
		put(FRAMES + i * FRAME + 56, in_arena(CODE) + 184);
		put(FRAMES + i * FRAME + 68, i + 1 == n);
	}
	put(CODE + 8, (uint64_t)(uintptr_t)&PyCode_Type);
	put(CODE + 112, in_arena(FILE_NAME));
	put(CODE + 120, in_arena(NAME));
	put(CODE + 128, in_arena(NAME));
	put(CODE + 136, in_arena(TABLE));
	put_text(NAME, "good");
	put_text(FILE_NAME, "good.py");
}

static void empty_frames(void) { put(FRAMES + 32, wrong()); }

static const uint64_t pointers[] = { THREAD + 56, CFRAME + 8, FRAMES + 32, FRAMES + 48, FRAMES + 56,
				     CODE + 8, CODE + 112, CODE + 120, CODE + 128, CODE + 136 };
static const uint64_t lengths[] = { NAME + 16, FILE_NAME + 16, TABLE + 16, NAME + 32, FILE_NAME + 32 };
enum { CYCLE = FRAMES + FRAME + 48, CYCLE_TO = FRAMES, MANY = 500, AGAIN = CODE + 112 };
#define TYPE ((uint64_t)(uintptr_t)&PyCode_Type)
#define LOOP _PyEval_EvalFrameDefault

#else

extern const unsigned char PL_revision, PL_version, PL_subversion;
extern uint32_t PL_thr_key;
const unsigned char PL_revision = 5, PL_version = 36, PL_subversion = 0;
uint32_t PL_thr_key = 1;

enum { THREAD = 0, STACK = 512, STACK2 = 640, COP = 768, CONTEXTS = 1024, CONTEXT = 104,
	CODE = 65536, BODY = 65600, GLOB = 65792, GLOB_BODY = 65856, GLOB_GP = 65984,
	KEY = 66112, HASH = 66176, HASH_BODY = 66240, FILE_NAME = 66368 };

static void publish_key(void) { PL_thr_key = key; }

static void put32(uint64_t at, uint32_t value) { memcpy((char *)arena + at, &value, 4); }

static void make_stack(uint64_t at, uint64_t outer, int top, int type)
{
	put(at + 8, in_arena(CONTEXTS));
	put(at + 16, outer);
	put32(at + 32, top);
	put32(at + 36, top + 10);
	put32(at + 40, top);
	put32(at + 44, type);
}

static void make_good(int n)
{
	memset(arena, 0, WORDS * 8);
	put(THREAD + 208, in_arena(COP));
	put(THREAD + 224, in_arena(STACK));
	make_stack(STACK, in_arena(STACK2), n, 2);
	make_stack(STACK2, 0, 0, 1);
	put32(COP + 36, 7);
	put(COP + 48, in_arena(FILE_NAME));
	strcpy((char *)arena + FILE_NAME, "good.pl");
	put(CONTEXTS, 2);
	for (int i = 1; i <= n; i++) {
		put(CONTEXTS + i * CONTEXT, 9);
		/* another COP than that of the innermost frame */
		put(CONTEXTS + i * CONTEXT + 16, in_arena(COP) + 1024);
		put(CONTEXTS + i * CONTEXT + 48, i > 1);
		put(CONTEXTS + i * CONTEXT + 72, in_arena(CODE));
	}
	put(CODE, in_arena(BODY));
	put32(CODE + 12, 13);
	put(BODY + 48, 1);
	put(BODY + 56, in_arena(GLOB));
	put(GLOB, in_arena(GLOB_BODY));
	put32(GLOB + 12, 9 | 0x8000);
	put(GLOB + 16, in_arena(GLOB_GP));
	put(GLOB_BODY + 32, in_arena(KEY));
	put(GLOB_BODY + 40, in_arena(HASH));
	put32(KEY + 4, 4);
	strcpy((char *)arena + KEY + 8, "good");
	put(HASH, in_arena(HASH_BODY));
	put32(HASH + 12, 12 | 0x2000000);
	put(HASH_BODY + 32, in_arena(KEY));
}

static void empty_frames(void) { put32(STACK + 32, UINT32_MAX); }

static const uint64_t pointers[] = { THREAD + 208, THREAD + 224, STACK + 8, STACK + 16, COP + 48,
				     CONTEXTS + 120, CONTEXTS + 176, CODE, BODY + 56, GLOB,
				     GLOB + 16, GLOB_BODY + 32, GLOB_BODY + 40, GLOB_GP + 56,
				     HASH, HASH_BODY + 32 };
static const uint64_t lengths[] = { STACK + 32, STACK + 40, KEY, HASH_BODY + 56, CODE + 8, CONTEXTS + 104,
				    STACK2 + 32 };
enum { CYCLE = STACK + 16, CYCLE_TO = STACK, MANY = 500, AGAIN = BODY + 48 };
#define TYPE (uint64_t)9
#define LOOP Perl_runops_standard

#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* All words are wrong, or addresses in the arena, so that some structures are right in parts. */
static void make_noise(void)
{
	for (size_t i = 0; i < WORDS; i++) {
		switch (random_u64() % 4) {
		case 0: arena[i] = wrong(); break;
		case 1: arena[i] = random_u64() % 3 ? random_u64() % 64 : TYPE; break;
		default: arena[i] = in_arena(random_u64() % WORDS * 8);
		}
	}
}

/* Unmaps and maps a page of the structures, again and again. */
static void *flicker(void *page)
{
	char copy[PAGE];

	memcpy(copy, page, PAGE);
	while (!done) {
		munmap(page, PAGE);
		if (mmap(page, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
			memcpy(page, copy, PAGE);
	}
	return NULL;
}

enum trap { GOOD, POINTERS, LENGTHS, CYCLES, LONG, FRESH, NOISE, FLICKER, TRAPS };

static void set_trap(enum trap trap, size_t i)
{
	switch (trap) {
	case GOOD: make_good(3); break;
	case POINTERS:
		make_good(3);
		put(pointers[i % (sizeof(pointers) / sizeof(pointers[0]))], wrong());
		break;
	case LENGTHS:
		make_good(3);
		put(lengths[i % (sizeof(lengths) / sizeof(lengths[0]))], wrong());
		break;
	case CYCLES:
		make_good(3);
		put(CYCLE, in_arena(CYCLE_TO));
		if (i % 2)
			empty_frames();
		break;
	case LONG: make_good(MANY); break;
	case FRESH: /* the function is another one each time */
		make_good(3);
		put(AGAIN, in_arena(CODE) + i % 4096 * 8 + 8192);
		break;
	default: make_noise();
	}
}

/* The interpreter's loop. */
void LOOP(enum trap trap, double seconds);
__attribute__((noinline)) void LOOP(enum trap trap, double seconds)
{
	double end = now() + seconds;

	for (size_t i = 0; now() < end; i++) {
		if (trap >= POINTERS && trap < FLICKER)
			set_trap(trap, i);
		for (volatile int k = 0; k < 20000; k++)
			;
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.15;
	pthread_t thread;

	arena = mmap(NULL, WORDS * 8 + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED || munmap(arena + WORDS, 2 * PAGE) != 0 ||
	    pthread_key_create(&key, NULL) != 0)
		return 1;
	make_good(3);
	publish_key();
	pthread_setspecific(key, arena);
	LOOP(GOOD, 3 * seconds); /* until the recorder knows the file */
	for (enum trap t = POINTERS; t < FLICKER; t++)
		LOOP(t, seconds);
	make_good(3);
	if (pthread_create(&thread, NULL, flicker, (char *)arena + CODE) == 0) {
		LOOP(FLICKER, 2 * seconds);
		done = true;
		pthread_join(thread, NULL);
	}
	pthread_setspecific(key, (void *)(uintptr_t)0xffffffff81000000);
	LOOP(FLICKER, seconds);
	pthread_setspecific(key, (void *)(uintptr_t)unmapped());
	LOOP(FLICKER, seconds);
	pthread_setspecific(key, arena);
	make_good(3);
	LOOP(GOOD, seconds);
	return 0;
}
