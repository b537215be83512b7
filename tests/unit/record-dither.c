/*
 * Simulates a kernel timer's ticks on one CPU, with the periods that cmd/cprof-record/source/dither.c chooses.
 *
 *	record-dither HERTZ SECONDS [fixed]
 *
 * Prints one line: ticks, the sum of their weights and the time from the first tick's period to the last
 * tick, ns; the shortest and the longest period of the timer, ns; the number of ticks with a weight of their
 * own; the number of changes of the period.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/source/dither.h"

enum { SECOND = 1000000000, LOOK = 250000000 };

int main(int argc, char **argv)
{
	uint64_t hertz = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, now = 77, end, period, next, last = 0, look;
	uint64_t ticks = 0, sum = 0, own = 0, shortest = UINT64_MAX, longest = 0, changes = 0, start = now;
	struct dither d;

	if (!hertz || !dither_init(&d, 2, SECOND / hertz, argc == 3))
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
	       " changes=%" PRIu64 "\n", ticks, sum, last - start, shortest, longest, own, changes);
	dither_release(&d);
	return 0;
}
