/*
 * Looks like Ruby 3.3 in an executable, and changes all that a walk of its frames reads while it runs:
 * frames in cycles, lengths of 2^60, addresses of nothing. Runs for the given seconds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 4096, STACK = 1024 };

extern const char ruby_version[];
const char ruby_version[] = "3.3.8";

static __thread uint64_t *context __attribute__((used));
static uint64_t pool[WORDS], stack[STACK];

static uint64_t random_word(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	switch (*state >> 61) {
	case 0:
		return *state >> 33;
	case 1:
		return 1ull << 60;
	case 2:
		return 0x701a | (*state >> 45 & 0xf0000); /* an iseq */
	case 3:
		return 0x601a; /* a method entry */
	case 4:
		return *state >> 40 & 1 ? 5 : 5 | 1 << 13; /* strings */
	default:
		return (uint64_t)(pool + (*state >> 33) % (WORDS - 64));
	}
}

int main(int argc, char **argv)
{
	clock_t end = (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
	uint64_t seed = 1, ec[8] = { (uint64_t)stack, STACK, 0, 0, 0, 0, (uint64_t)pool, 0 };

	context = ec;
	while (clock() < end) {
		for (int i = 0; i < WORDS; i++)
			pool[i] = random_word(&seed);
		for (int i = 0; i < STACK; i++)
			stack[i] = random_word(&seed);
		pool[6] = (uint64_t)ec; /* rb_thread_t.ec */
		ec[2] = (uint64_t)(stack + 8 + (seed >> 33) % 900);
	}
	return context != ec;
}
