/* One run of TIMED is timed, whatever the step of the clock. */
#include <stdio.h>

#include "bpf/offcpu/timed.bpf.h"
#include "tests/lib/check.h"

enum { RUNS = 1 << 20 };

/* Returns the number of timed runs in 1000 that should be 1000 / TIMED, times TIMED. */
static int share(unsigned long long first, unsigned int step, unsigned int pace)
{
	unsigned long long n = 0;

	for (unsigned long long i = 0; i < RUNS; i++)
		n += (unsigned int)is_timed((first + i * pace * 1000) / step * step + first % step);
	return (int)(n * TIMED * 1000 / RUNS);
}

int main(void)
{
	static const unsigned int steps[] = { 1, 10, 40, 64, 100, 279, 1000 }, paces[] = { 1, 3, 250, 4000 };
	char text[100];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (size_t k = 0; k < sizeof(paces) / sizeof(paces[0]); k++) {
			int got = share(86400000000123ull, steps[i], paces[k]);

			snprintf(text, sizeof(text), "runs each %u us on a clock of %u ns: %d of 1000", paces[k],
				 steps[i], got);
			check(got > 900 && got < 1100, text);
		}
	}
	return checks_done();
}
