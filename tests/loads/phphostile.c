/*
 * Looks like PHP 8.2 to a profiler, and has frames that no PHP has: cycles, lengths of 2^60, pointers to
 * nothing, bytes that change. One kind after the other, for some CPU time each; prints their number.
 * With KEYED it looks like a thread-safe build.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

const char banner[] __attribute__((used)) = "X-Powered-By: PHP/8.2.0";
#ifdef KEYED
static pthread_key_t key;
static uint64_t data[256], *const globals = data + 8;
size_t executor_globals_offset;

void *tsrm_get_ls_cache(void);
void *tsrm_get_ls_cache(void)
{
	return pthread_getspecific(key);
}
#else
uint64_t executor_globals[256] = { 1 };
static uint64_t *const globals = executor_globals;
#endif

enum {
	CURRENT = 488 / 8, FUNCTION = 3, THIS = 4, INFO = 5, PREVIOUS = 6,
	NAME = 1, SCOPE = 2, OPCODES = 11, PATH = 19,
	FAKE = 184 / 8, NODE = 152 / 8, STATE = 56 / 8,
};

static uint64_t *memory; /* eight pages, the last of which is unmapped */
static uint64_t *frame, *other, *function, *text, *opline, *generator;

static uint64_t at(const uint64_t *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void make_sound(void)
{
	memset(memory, 0, 7 * 4096);
	frame = memory + 128;
	other = memory + 256;
	function = memory + 384;
	text = memory + 512;
	opline = memory + 640;
	generator = memory + 768;
	text[1] = 1ull << 63 | 5;
	text[2] = 5;
	memcpy(text + 3, "sound", 6);
	function[0] = 2;
	function[NAME] = at(text);
	function[OPCODES] = at(opline);
	function[PATH] = at(text);
	for (int i = 0; i < 2; i++) {
		uint64_t *f = i ? other : frame;

		f[0] = at(opline);
		f[FUNCTION] = at(function);
		f[INFO] = 0x20000;
	}
	frame[PREVIOUS] = at(other);
	globals[CURRENT] = at(frame);
}

static void break_memory(int kind)
{
	const uint64_t nowhere = at(memory) + 7 * 4096;

	switch (kind) {
	case 1: frame[PREVIOUS] = at(frame); break;
	case 2: other[PREVIOUS] = at(frame); break;
	case 3: frame[FUNCTION] = nowhere; break;
	case 4: function[0] = 77; break;
	case 5: text[2] = 1ull << 60; memset(text + 3, 'x', 600); break;
	case 6: function[NAME] = nowhere; break;
	case 7: function[PATH] = nowhere - 8; break;
	case 8: function[OPCODES] = ~0ull; frame[0] = ~0ull; break;
	case 9: globals[CURRENT] = nowhere - 16; break;
	case 10: globals[CURRENT] = ~0ull << 47; break;
	case 11: function[SCOPE] = ~0ull; break;
	case 12: /* generators that wait for each other, in a frame that is its own caller */
		generator[FAKE + THIS] = at(generator);
		generator[FAKE + INFO] = 8;
		generator[FAKE + PREVIOUS] = at(generator + FAKE);
		generator[NODE] = at(generator);
		generator[STATE] = at(generator + FAKE);
		globals[CURRENT] = at(generator + FAKE);
		break;
	case 13:
		generator[FAKE + INFO] = 8;
		generator[FAKE + THIS] = 1;
		frame[PREVIOUS] = at(generator + FAKE);
		break;
	case 14: globals[CURRENT] = 8; break;
	}
}

void execute_ex(clock_t until, int scribble);

__attribute__((noinline)) void execute_ex(clock_t until, int scribble)
{
	uint64_t x = 1;

	while (clock() < until) {
		for (int i = 0; i < 2000; i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			if (scribble) /* a number, or an address of the memory */
				memory[128 + (x >> 40) % 700] =
					x >> 33 & 1 ? x >> 20 : at(memory) + ((x >> 20) % 28672 & -8ull);
		}
	}
}

int main(int argc, char **argv)
{
	clock_t each = (clock_t)((argc > 1 ? atof(argv[1]) : 0.1) * CLOCKS_PER_SEC);
	int kinds = 0;

	memory = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || munmap(memory + 7 * 512, 4096) != 0)
		return 1;
#ifdef KEYED
	executor_globals_offset = 64;
	if (pthread_key_create(&key, NULL) != 0 || pthread_key_create(&key, NULL) != 0 ||
	    pthread_setspecific(key, data) != 0 || tsrm_get_ls_cache() != data)
		return 1;
#endif
	make_sound();
	execute_ex(clock() + 5 * each, 0);
	for (; kinds < 16; kinds++) {
		make_sound();
		break_memory(kinds);
		execute_ex(clock() + each, kinds == 15);
	}
	printf("%d\n", kinds);
	return 0;
}
