/*
 * Simulates a kernel timer's ticks on one CPU, with the periods that cmd/cprof-record/rings/dither.c chooses.
 *
 *	record-dither HERTZ SECONDS [fixed | NS]
 *
 * Prints one line: ticks, the sum of their weights and the time from the first tick's period to the last
 * tick, ns; the shortest and the longest period of the timer, ns; the number of ticks with a weight of their
 * own; the number of changes of the period. With NS, also for programs that spend the first half of each NS
 * in one function, and the other half in another, in all phases: the largest error of the first one's share,
 * per mille.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/rings/dither.h"

enum { SECOND = 1000000000, LOOK = 250000000, PHASES = 50 };

/* Weight of the samples in the first half of its period, for a program of each phase. */
static uint64_t first[PHASES];

static void sample_programs(uint64_t period, uint64_t now, uint64_t weight)
{
	for (unsigned int i = 0; period && i < PHASES; i++)
		first[i] += (now + period * i / PHASES) % period < period / 2 ? weight : 0;
}

static uint64_t largest_error(uint64_t sum)
{
	uint64_t largest = 0;

	for (unsigned int i = 0; i < PHASES; i++) {
		uint64_t share = first[i] * 1000 / sum, error = share > 500 ? share - 500 : 500 - share;

		largest = error > largest ? error : largest;
	}
	return largest;
}

int main(int argc, char **argv)
{
	uint64_t hertz = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, now = 77, end, period, next, last = 0, look;
	uint64_t ticks = 0, sum = 0, own = 0, shortest = UINT64_MAX, longest = 0, changes = 0, start = now;
	struct dither d;

	bool fixed = argc == 4 && strcmp(argv[3], "fixed") == 0;
	uint64_t program = argc == 4 ? strtoull(argv[3], NULL, 10) : 0; /* its period */

	if (!hertz || !dither_init(&d, 2, SECOND / hertz, !fixed))
		return 2;
	end = now + strtoull(argv[2], NULL, 10) * SECOND;
	period = dither_choose(&d, 1);
	dither_changed(&d, 1, now);
	next = now + period;
	look = now + LOOK;
	while ((now = next < look ? next : look) < end) {
		if (now == next) {
			uint64_t weight = dither_weight(&d, 1, now, last ? now - last : 0);

			ticks++;
			own += weight != 0;
			sum += weight ? weight : SECOND / hertz;
			sample_programs(program, now, weight ? weight : SECOND / hertz);
			last = now;
			next = now + period;
			shortest = period < shortest ? period : shortest;
			longest = period > longest ? period : longest;
		} else {
			look += LOOK;
			if (!dither_due(&d, 1, now))
				continue;
			period = dither_choose(&d, 1);
			dither_changed(&d, 1, now);
			next = now + period; /* as the kernel's timer restarts */
			changes++;
		}
	}
	printf("ticks=%" PRIu64 " sum=%" PRIu64 " time=%" PRIu64 " shortest=%" PRIu64 " longest=%" PRIu64 " own=%" PRIu64
	       " changes=%" PRIu64 " error=%" PRIu64 "\n", ticks, sum, last - start, shortest, longest, own,
	       changes, largest_error(sum));
	dither_release(&d);
	return 0;
}
